import { Semaphore, KeyedSemaphore } from './semaphore.js';

const LONG_MS = 60_000;

/** Lets everything that is not waiting for time or I/O happen. */
const settle = () => new Promise(setImmediate);

/** Semaphores with room for one task, how many were created, and tasks that run until they are told to end. */
function startSemaphores() {
  const made: Semaphore[] = [];
  const semaphores = new KeyedSemaphore<string>(() => {
    const semaphore = new Semaphore(1, LONG_MS, () => new Error('no room'));
    made.push(semaphore);
    return semaphore;
  });
  const inside: (() => void)[] = [];
  const visit = (key: string) =>
    semaphores.run(key, () => new Promise<void>((resolve) => inside.push(resolve)));
  return { made, semaphores, inside, visit };
}

describe('KeyedSemaphore', () => {
  it('limits each key separately while the key has tasks', async () => {
    const { made, inside, visit } = startSemaphores();
    const visits = ['anna', 'anna', 'anna', 'bob'].map(visit);
    await settle();
    expect([made.length, inside.length]).toEqual([2, 2]);
    inside[0]!();
    await settle();
    visits.push(visit('anna')); // while one of two is inside
    await settle();
    expect([made.length, inside.length]).toEqual([2, 3]);
    for (let i = 1; i < 5; i++) {
      inside[i]!();
      await settle();
    }
    await Promise.all(visits);
  });

  it('drops the semaphore of a key after its last task, also after a failed one', async () => {
    const { made, semaphores } = startSemaphores();
    await semaphores.run('anna', () => Promise.resolve());
    await expect(semaphores.run('anna', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    await semaphores.run('anna', () => Promise.resolve());
    expect(made).toHaveLength(3);
  });
});
