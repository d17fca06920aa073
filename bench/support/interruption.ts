/** Rejects on SIGINT, on SIGTERM, and when the time limit is exceeded. */
export function rejectOnInterruption(timeLimitMs: number): Promise<never> {
  const interruption = new Promise<never>((_, reject) => {
    const stop = (reason: string) => () => reject(new Error(reason));
    process.once('SIGINT', stop('interrupted')).once('SIGTERM', stop('interrupted'));
    const minutes = Math.round(timeLimitMs / 60_000);
    setTimeout(stop(`the run exceeded its limit of ${minutes} minutes`), timeLimitMs).unref();
  });
  interruption.catch(() => undefined); // the rejection may precede the await of the caller
  return interruption;
}
