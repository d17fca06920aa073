/**
 * Runs the task for each item in order, with at most `limit` tasks at once.
 * @param isStopped is asked before each task; once it returns true, no further task starts
 * @returns the items whose tasks were not started
 * @throws the error of the first task that fails; the other tasks go on meanwhile
 */
export async function mapConcurrently<T>(
  items: Iterable<T>,
  limit: number,
  task: (item: T) => Promise<void>,
  isStopped: () => boolean = () => false,
): Promise<T[]> {
  const waiting = [...items].values();
  const worker = async () => {
    while (!isStopped()) {
      const next = waiting.next();
      if (next.done) return;
      await task(next.value);
    }
  };
  await Promise.all(Array.from({ length: limit }, worker));
  return [...waiting];
}
