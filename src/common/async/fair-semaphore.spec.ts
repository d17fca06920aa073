import { jest } from '@jest/globals';
import { FairSemaphore } from './fair-semaphore.js';

const TIMEOUT_MS = 1_000;

/** A semaphore, the tasks in the order in which they began, and how to end them. */
function startSemaphore(capacity = 2, perKey = 2, waitingPerKey = 100, timeoutMs = TIMEOUT_MS) {
  const rejection = () => new Error('no turn');
  const semaphore = new FairSemaphore<string>({ capacity, perKey, waitingPerKey, timeoutMs, rejection });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const run = (name: string) =>
    semaphore.run(name[0]!, () => {
      begun.push(name);
      return new Promise<void>((resolve) => ends.set(name, resolve));
    });
  const end = async (name: string) => {
    ends.get(name)!();
    await settle();
  };
  return { semaphore, begun, run, end };
}

/** Lets everything that waits for neither time nor I/O happen. */
const settle = async () => {
  for (let i = 0; i < 20; i++) await Promise.resolve();
};

it('lets keys take turns, however many tasks one of them has', async () => {
  const { begun, run, end } = startSemaphore();
  const all = ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2', 'c1'].map(run);
  await settle();
  expect(begun).toEqual(['a1', 'a2']);
  for (const name of ['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2', 'a5']) await end(name);
  expect(begun).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2', 'a5']);
  await Promise.all(all);
});

it('keeps room for other keys above the limit of one key', async () => {
  const { begun, run, end } = startSemaphore(3, 2);
  const all = ['a1', 'a2', 'a3', 'b1'].map(run);
  await settle();
  expect(begun).toEqual(['a1', 'a2', 'b1']);
  await end('b1');
  expect(begun).toEqual(['a1', 'a2', 'b1']);
  await end('a2');
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3']);
  await end('a1');
  await end('a3');
  await Promise.all(all);
});

it('rejects a task that waits for too long, and runs the others', async () => {
  jest.useFakeTimers();
  try {
    const { begun, run, end } = startSemaphore(1, 1);
    const first = run('a1');
    const late = expect(run('a2')).rejects.toThrow('no turn');
    jest.advanceTimersByTime(TIMEOUT_MS - 1);
    const second = run('b1');
    jest.advanceTimersByTime(1);
    await late;
    await end('a1');
    expect(begun).toEqual(['a1', 'b1']);
    await end('b1');
    await Promise.all([first, second]);
  } finally {
    jest.useRealTimers();
  }
});

it('rejects a task at once if its key has too many waiting tasks, but not tasks of other keys', async () => {
  const { run, end } = startSemaphore(1, 1, 1);
  const [first, second] = [run('a1'), run('a2')];
  await expect(run('a3')).rejects.toThrow('no turn');
  const other = run('b1');
  await settle();
  for (const name of ['a1', 'a2', 'b1']) await end(name);
  await Promise.all([first, second, other]);
});

it('never exceeds its limits, also when tasks fail', async () => {
  const { semaphore } = startSemaphore(5, 2, 100, 60_000); // no wait times out on a busy machine
  const running = new Map<string, number>();
  const tasks = Array.from({ length: 300 }, (_, i) => {
    const key = String(i % 7);
    return semaphore.run(key, async () => {
      running.set(key, (running.get(key) ?? 0) + 1);
      expect(running.get(key)).toBeLessThanOrEqual(2);
      expect([...running.values()].reduce((sum, each) => sum + each)).toBeLessThanOrEqual(5);
      await new Promise(setImmediate);
      running.set(key, running.get(key)! - 1);
      if (i % 3 === 0) throw new Error('failed');
    });
  });
  const ended = await Promise.allSettled(tasks);
  expect(ended.filter(({ status }) => status === 'rejected')).toHaveLength(100);
  expect(ended.every((each) => each.status === 'fulfilled' || String(each.reason) === 'Error: failed')).toBe(
    true,
  );
});

it.each([
  [0, 1],
  [1, 0],
  [NaN, 1],
])('rejects a capacity of %d with %d per key', (capacity, perKey) => {
  expect(() => startSemaphore(capacity, perKey)).toThrow(RangeError);
});
