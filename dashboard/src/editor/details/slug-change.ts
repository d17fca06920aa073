import { loadDocument, updateDocument } from '../../documents/queries';
import type { DocumentAddress, DocumentSummary } from '../../documents/queries';
import { rememberContent } from '../../links/contents';
import { followSlugChange } from '../../links/link-index';

/** Document whose links a new slug would break. */
export interface LinkChange {
  readonly document: DocumentSummary;
}

/** Lists the other documents that link to a document by its slug. */
export function planSlugChange(
  documents: readonly DocumentSummary[],
  contents: ReadonlyMap<string, string>,
  id: number,
  newSlug: string,
): LinkChange[] {
  return documents
    .filter((document) => {
      const content = contents.get(document.slug);
      return (
        document.id !== id &&
        content !== undefined &&
        followSlugChange(content, documents, id, newSlug) !== content
      );
    })
    .map((document) => ({ document }));
}

/** Updates the links in the current version of each document, so that no other change is overwritten. */
export async function updateLinks(
  { owner, project }: DocumentAddress,
  changes: readonly LinkChange[],
  id: number,
  newSlug: string,
  documents: readonly DocumentSummary[],
): Promise<void> {
  for (const { document } of changes) {
    const address = { owner, project, document: document.id };
    const { content, etag } = await loadDocument(address);
    const changed = followSlugChange(content, documents, id, newSlug);
    if (changed === content) continue;
    await updateDocument(address, { content: changed }, etag);
    rememberContent(owner, project, document.slug, changed);
  }
}
