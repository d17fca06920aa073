/**
 * Semaphore that keys share fairly: keys with waiting tasks take turns, so that a key with many tasks delays the
 * others by one task each. The tasks of one key run in the order of their arrival.
 */
export class FairSemaphore<K> {
  private total = 0;
  private readonly running = new Map<K, number>();
  /** Keys in the order of their next turns. */
  private readonly waiting = new Map<K, Set<() => void>>();

  constructor(private readonly options: FairSemaphoreOptions) {
    const { capacity, perKey } = options;
    if (!(capacity >= 1 && perKey >= 1)) throw new RangeError('the capacity must be at least 1');
  }

  /** Runs the task when there is room and its key has its turn. @throws the rejection if the task waits for too long */
  async run<T>(key: K, task: () => Promise<T>): Promise<T> {
    await this.acquire(key);
    try {
      return await task();
    } finally {
      this.release(key);
    }
  }

  isRunning(key: K): boolean {
    return this.running.has(key);
  }

  /** Whether a task of the key would run at once. */
  hasRoomFor(key: K): boolean {
    const { capacity, perKey } = this.options;
    return this.total < capacity && (this.running.get(key) ?? 0) < perKey;
  }

  private acquire(key: K): Promise<void> {
    if (this.hasRoomFor(key)) {
      this.count(key, 1);
      return Promise.resolve();
    }
    const queue = this.waiting.get(key) ?? new Set();
    const { waitingPerKey, timeoutMs, rejection } = this.options;
    if (queue.size >= waitingPerKey) return Promise.reject(rejection());
    this.waiting.set(key, queue);
    return new Promise((resolve, reject) => {
      const start = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.dequeue(key, start);
        reject(rejection());
      }, timeoutMs);
      queue.add(start);
    });
  }

  /** Starts the next task in the same turn, so that no new task takes its place. */
  private release(key: K): void {
    this.count(key, -1);
    for (const [next, queue] of this.waiting) {
      if (!this.hasRoomFor(next)) continue;
      const [start] = queue;
      this.dequeue(next, start!);
      this.waiting.delete(next);
      if (queue.size > 0) this.waiting.set(next, queue); // behind all others
      this.count(next, 1);
      start!();
      return;
    }
  }

  private count(key: K, change: 1 | -1): void {
    const ofKey = (this.running.get(key) ?? 0) + change;
    this.total += change;
    if (ofKey > 0) this.running.set(key, ofKey);
    else this.running.delete(key);
  }

  private dequeue(key: K, start: () => void): void {
    const queue = this.waiting.get(key);
    queue?.delete(start);
    if (queue?.size === 0) this.waiting.delete(key);
  }
}

export interface FairSemaphoreOptions {
  /** Maximum number of tasks that run at once, of all keys together. */
  readonly capacity: number;
  /** Maximum number of tasks of one key that run at once. */
  readonly perKey: number;
  /** Maximum number of waiting tasks of one key; further tasks are rejected at once. */
  readonly waitingPerKey: number;
  readonly timeoutMs: number;
  /** Error of a task that waits for longer than `timeoutMs`, or finds no room to wait. */
  readonly rejection: () => Error;
}
