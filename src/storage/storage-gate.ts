import { Injectable } from '@nestjs/common';
import { STORAGE_TIMEOUT_MS } from './object-store.js';
import { StorageUnavailable } from './storage.errors.js';

/**
 * Limits how many database transactions wait for object storage at once, so that a store that hangs does not use
 * up the database's connections. A task passes the gate before it takes its connection, and does not
 * pass it again while it is inside. First come, first served.
 */
@Injectable()
export class StorageGate {
  private inside = 0;
  /** A set: keeps the order of arrival, and forgets those who gave up. */
  private readonly waiting = new Set<() => void>();

  /** @param capacity how many may be inside at once: half of the connection pool */
  constructor(
    private readonly capacity: number,
    private readonly timeoutMs: number = STORAGE_TIMEOUT_MS,
  ) {
    if (!Number.isInteger(capacity) || capacity < 1) throw new RangeError('the capacity must be at least 1');
  }

  /** How many wait to be let in. */
  get queueLength(): number {
    return this.waiting.size;
  }

  /** Runs the task when there is room. @throws StorageUnavailable when there is none for so long, 5 s as a rule */
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
        reject(new StorageUnavailable(`too many are waiting for it: no room within ${timeoutMs} ms`));
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
