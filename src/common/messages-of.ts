/** What failed, and what that was caused by, in one line: the `reason` in the log. */
export function messagesOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const message = error.message || causesOf(error);
  return hasWords(error.cause) ? `${message}: ${messagesOf(error.cause)}` : message;
}

/** Not so what the S3 client gives for a cause: some headers. */
function hasWords(cause: unknown): boolean {
  return typeof cause === 'string' || typeof (cause as Partial<Error> | undefined)?.message === 'string';
}

/** A host with several addresses of which none answers is told of by an error without words of its own. */
function causesOf(error: Error): string {
  if (!(error instanceof AggregateError)) return error.name;
  return error.errors.map(messagesOf).join('; ');
}
