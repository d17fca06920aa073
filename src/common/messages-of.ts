/** What failed, and what that was caused by, in one line. */
export function messagesOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const message = error.message || causesOf(error);
  return error.cause === undefined ? message : `${message}: ${messagesOf(error.cause)}`;
}

/** A host with several addresses of which none answers is told of by an error without words of its own. */
function causesOf(error: Error): string {
  if (!(error instanceof AggregateError)) return error.name;
  return error.errors.map(messagesOf).join('; ');
}
