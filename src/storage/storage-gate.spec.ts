import { StorageGate } from './storage-gate.js';
import { StorageUnavailable } from './storage.errors.js';

const SHORT_MS = 20;
const LONG_MS = 60_000;

/** A task that lasts until it is told to end, and knows whether it has begun. */
class Task {
  begun = 0;
  end: (value: string) => void;
  private readonly ended = new Promise<string>((resolve) => (this.end = resolve));

  readonly run = () => {
    this.begun++;
    return this.ended;
  };
}

/** Lets everything that is not waiting for time or I/O happen. */
const settle = () => new Promise(setImmediate);

describe('StorageGate', () => {
  it('passes on what a task returns, and throws', async () => {
    const gate = new StorageGate(1);
    await expect(gate.run(() => Promise.resolve('done'))).resolves.toBe('done');
    await expect(gate.run(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    await expect(gate.run(() => Promise.resolve('done'))).resolves.toBe('done');
  });

  it('is left by a task that throws at once', async () => {
    const gate = new StorageGate(1, LONG_MS);
    const broken = () => {
      throw new Error('broken');
    };
    await expect(gate.run(broken)).rejects.toThrow('broken');
    await expect(gate.run(() => Promise.resolve('done'))).resolves.toBe('done');
  });

  it('lets in as many as it holds, the others in the order of their arrival', async () => {
    const gate = new StorageGate(2, LONG_MS);
    const tasks = Array.from({ length: 4 }, () => new Task());
    const begun = () => tasks.map((task) => task.begun);
    const results = tasks.map(({ run }) => gate.run(run));
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

  it('does not let a newcomer in before one who waits', async () => {
    const gate = new StorageGate(1, LONG_MS);
    const [inside, waiting, newcomer] = [new Task(), new Task(), new Task()];
    const first = gate.run(inside.run).then(() => gate.run(newcomer.run));
    const second = gate.run(waiting.run);
    inside.end('');
    await settle();
    expect([waiting.begun, newcomer.begun]).toEqual([1, 0]);
    waiting.end('');
    newcomer.end('');
    await Promise.all([first, second]);
  });

  it('turns away who has waited too long, without running the task or losing the place', async () => {
    const gate = new StorageGate(1, SHORT_MS);
    const inside = new Task();
    const late = new Task();
    const first = gate.run(inside.run);
    await expect(gate.run(late.run)).rejects.toThrow(StorageUnavailable);
    inside.end('done');
    await first;
    await expect(gate.run(() => Promise.resolve('next'))).resolves.toBe('next');
    expect(late.begun).toBe(0);
  });

  it('lets one wait longer than the others', async () => {
    const gate = new StorageGate(1, SHORT_MS);
    const inside = new Task();
    const first = gate.run(inside.run);
    const patient = gate.run(() => Promise.resolve('patient'), LONG_MS);
    await expect(gate.run(() => Promise.resolve('late'))).rejects.toThrow(StorageUnavailable);
    inside.end('done');
    await first;
    await expect(patient).resolves.toBe('patient');
  });

  it('never holds more than its capacity under a crowd', async () => {
    const gate = new StorageGate(3, LONG_MS);
    let inside = 0;
    let most = 0;
    const visit = async () => {
      most = Math.max(most, ++inside);
      await settle();
      inside--;
    };
    await Promise.all(Array.from({ length: 100 }, () => gate.run(visit)));
    expect([most, inside]).toEqual([3, 0]);
  });

  it.each([0, -1, 1.5, NaN])('has no capacity of %d', (capacity) => {
    expect(() => new StorageGate(capacity)).toThrow(RangeError);
  });
});
