import { explainError, isApiError, withRequestId } from '../api/errors';
import { UNAUTHORIZED } from '../api/statuses';
import { mapConcurrently } from '../text/map-concurrently';
import type { PlannedDocument, SkippedFile } from './plan';

/** Documents that are stored at the same time. */
const PARALLEL = 4;

/** State of an upload. */
export interface Progress {
  readonly done: number;
  readonly total: number;
  readonly failed: readonly SkippedFile[];
}

/** Result of an upload. A cancelled one can be continued by repeating the import. */
export interface UploadResult extends Progress {
  readonly isCancelled: boolean;
}

/** Stores one document. */
export type Store = (document: PlannedDocument) => Promise<unknown>;

/**
 * Stores documents, a few in parallel. A document that fails does not stop the others. After `signal` fires, no
 * further document is begun, and those that were begun are completed.
 */
export async function upload(
  documents: readonly PlannedDocument[],
  store: Store,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<UploadResult> {
  const failed: SkippedFile[] = [];
  let done = 0;
  let isEnded = false;
  await mapConcurrently(documents, PARALLEL, async (document) => {
    if (signal.aborted || isEnded) return;
    try {
      await store(document);
      done++;
    } catch (error) {
      // Without a session, all the others would fail in the same way.
      if (isApiError(error, UNAUTHORIZED)) isEnded = true;
      failed.push({ path: document.path, reason: describeError(error) });
    }
    onProgress({ done, total: documents.length, failed: [...failed] });
  });
  return { done, total: documents.length, failed, isCancelled: signal.aborted };
}

/** Cause, remedy and request id in one line. */
function describeError(error: unknown): string {
  const { title, advice, requestId } = explainError(error);
  return withRequestId(`${title}. ${advice}`, requestId);
}
