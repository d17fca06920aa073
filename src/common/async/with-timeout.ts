/**
 * Waits for the work, but no longer than the timeout. The work itself is not cancelled, and its late result is ignored.
 * @throws Error if the timeout passes first
 */
export function withTimeout<T>(timeoutMs: number, work: T | Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done within ${timeoutMs} ms`)), timeoutMs);
  });
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}
