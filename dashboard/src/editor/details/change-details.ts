import { isApiError } from '../../api/errors';
import { PRECONDITION_FAILED } from '../../api/statuses';
import { loadDocument, updateDocument } from '../../documents/queries';
import type { DocumentAddress, LoadedDocument } from '../../documents/queries';
import type { DocumentSaver } from '../../saving/saver';

/** Changes title or slug between two saves. A changed text on the service is no obstacle, because it stays as it is. */
export async function changeDetails(
  saver: DocumentSaver,
  address: DocumentAddress,
  details: { title?: string; slug?: string },
): Promise<LoadedDocument> {
  let changed: LoadedDocument | undefined;
  await saver.exclusively(async (etag) => {
    changed = await updateDocument(address, details, etag).catch(async (error: unknown) => {
      if (!isApiError(error, PRECONDITION_FAILED)) throw error;
      return updateDocument(address, details, (await loadDocument(address)).etag);
    });
    return changed;
  });
  return changed!;
}
