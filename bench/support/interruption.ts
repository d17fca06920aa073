/** Rejects when somebody wants the run to end, or it takes too long. */
export function interruption(timeLimitMs: number): Promise<never> {
  return new Promise((_, reject) => {
    const stop = (reason: string) => () => reject(new Error(reason));
    process.once('SIGINT', stop('interrupted')).once('SIGTERM', stop('interrupted'));
    setTimeout(stop('the time is up'), timeLimitMs).unref();
  });
}
