/** Limits how many tasks run at once. Tasks start in the order of their arrival. */
export class Semaphore {
  private running = 0;
  /** Tasks in the order of arrival; a set, because tasks that time out leave from the middle. */
  private readonly waiting = new Set<() => void>();

  /**
   * @param capacity maximum number of tasks that run at once
   * @param timeoutMs default time that a task waits for its start
   * @param rejection creates the error of a task that has waited for too long
   */
  constructor(
    private readonly capacity: number,
    private readonly timeoutMs: number,
    private readonly rejection: (waitedMs: number) => Error,
  ) {
    if (!Number.isInteger(capacity) || capacity < 1) throw new RangeError('the capacity must be at least 1');
  }

  /** Number of waiting tasks. */
  get queueLength(): number {
    return this.waiting.size;
  }

  /** Runs the task when there is room. @throws the rejection if the task waits for longer than the timeout */
  async run<T>(task: () => Promise<T>, timeoutMs = this.timeoutMs): Promise<T> {
    await this.acquire(timeoutMs);
    try {
      return await task();
    } finally {
      this.release();
    }
  }

  private acquire(timeoutMs: number): Promise<void> {
    if (this.running < this.capacity) {
      this.running++;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const start = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.waiting.delete(start);
        reject(this.rejection(timeoutMs));
      }, timeoutMs);
      this.waiting.add(start);
    });
  }

  /** Starts the task that has waited longest in the same turn, so that no new task takes its place. */
  private release(): void {
    const [start] = this.waiting;
    if (!start) {
      this.running--;
      return;
    }
    this.waiting.delete(start);
    start();
  }
}

/** Keeps a semaphore for each key that has tasks. */
export class KeyedSemaphore<K> {
  private readonly entries = new Map<K, { readonly semaphore: Semaphore; count: number }>();

  /** @param createSemaphore is called for each key without a semaphore */
  constructor(private readonly createSemaphore: () => Semaphore) {}

  /** {@link Semaphore.run} with the semaphore of a key. */
  async run<T>(key: K, task: () => Promise<T>, timeoutMs?: number): Promise<T> {
    const entry = this.entries.get(key) ?? { semaphore: this.createSemaphore(), count: 0 };
    this.entries.set(key, entry);
    entry.count++;
    try {
      return await entry.semaphore.run(task, timeoutMs);
    } finally {
      if (--entry.count === 0) this.entries.delete(key);
    }
  }
}
