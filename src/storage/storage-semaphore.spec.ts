import { StorageSemaphore } from './storage-semaphore.js';
import { StorageUnavailable } from './storage.errors.js';

const SHORT_MS = 20;
const LONG_MS = 60_000;

/** Task that runs until the test ends it, and counts its runs. */
class Task {
  begun = 0;
  end: (value: string) => void;
  private readonly ended = new Promise<string>((resolve) => (this.end = resolve));

  readonly run = () => {
    this.begun++;
    return this.ended;
  };
}

/** Runs all pending microtasks and immediates. */
const settle = () => new Promise(setImmediate);

describe('StorageSemaphore', () => {
  it('returns the result of a task and rethrows its error', async () => {
    const semaphore = new StorageSemaphore(1);
    await expect(semaphore.run(() => Promise.resolve('done'))).resolves.toBe('done');
    await expect(semaphore.run(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    await expect(semaphore.run(() => Promise.resolve('done'))).resolves.toBe('done');
  });

  it('frees the place of a task that throws synchronously', async () => {
    const semaphore = new StorageSemaphore(1, LONG_MS);
    const broken = () => {
      throw new Error('broken');
    };
    await expect(semaphore.run(broken)).rejects.toThrow('broken');
    await expect(semaphore.run(() => Promise.resolve('done'))).resolves.toBe('done');
  });

  it('runs as many tasks as its capacity, the others in the order of arrival', async () => {
    const semaphore = new StorageSemaphore(2, LONG_MS);
    const tasks = Array.from({ length: 4 }, () => new Task());
    const begun = () => tasks.map((task) => task.begun);
    const results = tasks.map(({ run }) => semaphore.run(run));
    await settle();
    expect(begun()).toEqual([1, 1, 0, 0]);
    tasks[1]!.end('second');
    await settle();
    expect(begun()).toEqual([1, 1, 1, 0]);
    tasks[0]!.end('first');
    await settle();
    expect(begun()).toEqual([1, 1, 1, 1]);
    tasks[2]!.end('third');
    tasks[3]!.end('fourth');
    await expect(Promise.all(results)).resolves.toEqual(['first', 'second', 'third', 'fourth']);
  });

  it('runs a waiting task before a new one', async () => {
    const semaphore = new StorageSemaphore(1, LONG_MS);
    const [inside, waiting, newcomer] = [new Task(), new Task(), new Task()];
    const first = semaphore.run(inside.run).then(() => semaphore.run(newcomer.run));
    const second = semaphore.run(waiting.run);
    inside.end('');
    await settle();
    expect([waiting.begun, newcomer.begun]).toEqual([1, 0]);
    waiting.end('');
    newcomer.end('');
    await Promise.all([first, second]);
  });

  it('rejects a task that waits too long, without running it or losing its place', async () => {
    const semaphore = new StorageSemaphore(1, SHORT_MS);
    const inside = new Task();
    const late = new Task();
    const first = semaphore.run(inside.run);
    await expect(semaphore.run(late.run)).rejects.toThrow(StorageUnavailable);
    inside.end('done');
    await first;
    await expect(semaphore.run(() => Promise.resolve('next'))).resolves.toBe('next');
    expect(late.begun).toBe(0);
  });

  it('accepts a longer timeout for a single task', async () => {
    const semaphore = new StorageSemaphore(1, SHORT_MS);
    const inside = new Task();
    const first = semaphore.run(inside.run);
    const patient = semaphore.run(() => Promise.resolve('patient'), LONG_MS);
    await expect(semaphore.run(() => Promise.resolve('late'))).rejects.toThrow(StorageUnavailable);
    inside.end('done');
    await first;
    await expect(patient).resolves.toBe('patient');
  });

  it('never exceeds its capacity with 100 concurrent tasks', async () => {
    const semaphore = new StorageSemaphore(3, LONG_MS);
    let inside = 0;
    let most = 0;
    const visit = async () => {
      most = Math.max(most, ++inside);
      await settle();
      inside--;
    };
    await Promise.all(Array.from({ length: 100 }, () => semaphore.run(visit)));
    expect([most, inside]).toEqual([3, 0]);
  });

  it.each([0, -1, 1.5, NaN])('rejects a capacity of %d', (capacity) => {
    expect(() => new StorageSemaphore(capacity)).toThrow(RangeError);
  });
});
