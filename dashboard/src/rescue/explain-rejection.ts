import { explainError, isApiError } from '../api/errors';
import { FORBIDDEN, NOT_FOUND } from '../api/statuses';

/** Reason for which the service rejects a text, in one sentence. */
export function explainRejection(error: unknown): string {
  if (isApiError(error, NOT_FOUND))
    return 'This document does not exist any more: it was deleted, or you are no longer a member of its team';
  if (isApiError(error, FORBIDDEN)) return 'Your role does not permit changes of this document any more';
  return explainError(error).title;
}
