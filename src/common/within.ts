/**
 * What the work comes to, unless it takes longer: then it may still end, and nobody hears of it.
 * @throws Error when it takes longer
 */
export function within<T>(timeoutMs: number, work: T | Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done within ${timeoutMs} ms`)), timeoutMs);
  });
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}
