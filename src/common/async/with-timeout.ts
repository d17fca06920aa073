/**
 * Waits for the work, but no longer than the timeout. The work itself is not cancelled, and its late result is ignored.
 * @param createError creates the error for a timeout
 * @throws Error if the timeout passes first
 */
export function withTimeout<T>(
  timeoutMs: number,
  work: T | Promise<T>,
  createError = () => new Error(`not done within ${timeoutMs} ms`),
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(createError()), timeoutMs);
  });
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}
