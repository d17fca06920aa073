import { isApiError } from '../../api/errors';
import { PRECONDITION_FAILED } from '../../api/statuses';
import { loadDocument, updateDocument } from '../../documents/queries';
import type { DocumentAddress, DocumentSummary } from '../../documents/queries';
import { rememberContent } from '../../links/contents';
import { followSlugChange } from '../../links/link-index';

/** New slug of a document, and the other documents whose links it would break. */
export interface SlugChange {
  readonly id: number;
  readonly newSlug: string;
  /** Documents of the project, with the slugs before the change. */
  readonly documents: readonly DocumentSummary[];
  readonly linking: readonly DocumentSummary[];
}

/** Document whose links could not be updated. */
export interface FailedUpdate {
  readonly document: DocumentSummary;
  readonly error: unknown;
}

/** Attempts to update a document that other people change at the same time. */
const ATTEMPTS = 3;

/** Lists the other documents that link to a document by its slug. */
export function planSlugChange(
  documents: readonly DocumentSummary[],
  contents: ReadonlyMap<string, string>,
  id: number,
  newSlug: string,
): SlugChange {
  const linking = documents.filter((document) => {
    const content = contents.get(document.slug);
    return (
      document.id !== id &&
      content !== undefined &&
      followSlugChange(content, documents, id, newSlug) !== content
    );
  });
  return { id, newSlug, documents, linking };
}

/**
 * Updates the links in the current version of each document, so that no other change is overwritten.
 * @returns the documents whose links are still broken
 */
export async function updateLinks(address: DocumentAddress, change: SlugChange): Promise<FailedUpdate[]> {
  const failed: FailedUpdate[] = [];
  for (const document of change.linking) {
    await updateDocumentLinks({ ...address, document: document.id }, change).catch((error: unknown) =>
      failed.push({ document, error }),
    );
  }
  return failed;
}

async function updateDocumentLinks(
  address: DocumentAddress,
  change: SlugChange,
  attempts = ATTEMPTS,
): Promise<void> {
  const { content, etag } = await loadDocument(address, 'reload');
  const changed = followSlugChange(content, change.documents, change.id, change.newSlug);
  if (changed === content) return;
  try {
    const { slug } = await updateDocument(address, { content: changed }, etag);
    rememberContent(address.owner, address.project, slug, changed);
  } catch (error) {
    if (!isApiError(error, PRECONDITION_FAILED) || attempts === 1) throw error;
    await updateDocumentLinks(address, change, attempts - 1);
  }
}
