/**
 * Does the task for each item, in their order, a few at a time, until it is over.
 * @returns the items that were not begun
 * @throws what a task throws; the others go on meanwhile
 */
export async function fewAtOnce<T>(
  items: Iterable<T>,
  atOnce: number,
  task: (item: T) => Promise<void>,
  isOver: () => boolean = () => false,
): Promise<T[]> {
  const waiting = [...items].values();
  const worker = async () => {
    while (!isOver()) {
      const next = waiting.next();
      if (next.done) return;
      await task(next.value);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return [...waiting];
}
