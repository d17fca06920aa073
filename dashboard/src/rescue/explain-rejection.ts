import { explainError, isApiError } from '../api/errors';

const FORBIDDEN = 403;
const NOT_FOUND = 404;

/** Reason for which the service rejects a text, in one sentence. */
export function explainRejection(error: unknown): string {
  if (isApiError(error, NOT_FOUND))
    return 'This document does not exist any more: it was deleted, or you are no longer a member of its team';
  if (isApiError(error, FORBIDDEN)) return 'Your role does not permit changes of this document any more';
  return explainError(error).title;
}
