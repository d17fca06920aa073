/** Limits how many tasks run at once. First come, first served; who waits too long is refused. */
export class Gate {
  private inside = 0;
  /** A set: keeps the order of arrival, and forgets those who gave up. */
  private readonly waiting = new Set<() => void>();

  /**
   * @param capacity how many may be inside at once
   * @param timeoutMs how long a task waits, as a rule
   * @param refusal of one that has waited so many milliseconds
   */
  constructor(
    private readonly capacity: number,
    private readonly timeoutMs: number,
    private readonly refusal: (waitedMs: number) => Error,
  ) {
    if (!Number.isInteger(capacity) || capacity < 1) throw new RangeError('the capacity must be at least 1');
  }

  /** How many wait to be let in. */
  get queueLength(): number {
    return this.waiting.size;
  }

  /** Runs the task when there is room. @throws the refusal when there is none for so long */
  async run<T>(task: () => Promise<T>, timeoutMs = this.timeoutMs): Promise<T> {
    await this.enter(timeoutMs);
    try {
      return await task();
    } finally {
      this.leave();
    }
  }

  private enter(timeoutMs: number): Promise<void> {
    if (this.inside < this.capacity) {
      this.inside++;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const admit = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.waiting.delete(admit);
        reject(this.refusal(timeoutMs));
      }, timeoutMs);
      this.waiting.add(admit);
    });
  }

  /** The place is handed to whoever has waited longest, so that no newcomer slips in between. */
  private leave(): void {
    const [admit] = this.waiting;
    if (!admit) {
      this.inside--;
      return;
    }
    this.waiting.delete(admit);
    admit();
  }
}

/** A gate for each key, as long as somebody is at it. */
export class Gates<K> {
  private readonly gates = new Map<K, { readonly gate: Gate; count: number }>();

  /** @param newGate makes that of a key */
  constructor(private readonly newGate: () => Gate) {}

  /** {@link Gate.run} at the gate of a key. */
  async run<T>(key: K, task: () => Promise<T>, timeoutMs?: number): Promise<T> {
    const entry = this.gates.get(key) ?? { gate: this.newGate(), count: 0 };
    this.gates.set(key, entry);
    entry.count++;
    try {
      return await entry.gate.run(task, timeoutMs);
    } finally {
      if (--entry.count === 0) this.gates.delete(key);
    }
  }
}
