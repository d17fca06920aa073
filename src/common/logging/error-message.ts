/** Formats an error and its causes in one line, the `reason` in the log. */
export function errorMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const message = error.message || joinMessages(error);
  return hasMessage(error.cause) ? `${message}: ${errorMessage(error.cause)}` : message;
}

/** Whether a cause has a message. The S3 client sets response headers as the cause. */
function hasMessage(cause: unknown): boolean {
  return typeof cause === 'string' || typeof (cause as Partial<Error> | undefined)?.message === 'string';
}

/** Joins the messages of an `AggregateError`, which has none itself if no address of a host can be reached. */
function joinMessages(error: Error): string {
  if (!(error instanceof AggregateError)) return error.name;
  return error.errors.map(errorMessage).join('; ');
}
