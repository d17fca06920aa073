import { LRUCache } from 'lru-cache';
import type { Invalidation, Invalidations } from './invalidations.js';

interface Entry<V> {
  readonly value: V;
  readonly epoch: number;
  /** When it was read, or last vouched for by the end of its epoch; as `performance.now()` has it. */
  certainUntil: number;
}

/** What came of a question. */
export interface Told<V> {
  readonly value: V;
  /** Whether the database could not be asked just now, and the value is what was certain a short time ago. */
  readonly isInGrace: boolean;
}

/** How things stood before something was read. */
interface Beginning {
  readonly generation: number;
  readonly epoch: number;
  /** As `performance.now()` has it. */
  readonly beganAt: number;
}

/**
 * What this replica has read from the database, and hears of when it changes ({@link Invalidations}).
 *
 * An entry is believed while the replica holds a lease; what changes is forgotten before whoever changed it is answered.
 * What is being read while something changes, or across a gap, is not kept: it may be what was so before.
 *
 * An epoch lasts as long as the replica hears of everything. What is from an earlier one may have changed in the gap
 * between: it is not believed, and counts for as long after the end of its epoch only as the database may be silent.
 *
 * For example, with a lease of 2 s and a grace of 60 s, where the last heartbeat begins at 100 s: what was read before is
 * believed until 102 s. Then each reading fails, and it is known until 160 s. At 130 s the database is back, and with it
 * a new epoch: the entry is not believed, but read anew. Where that was not done before the database is gone again, it is
 * known until 160 s still: what happened between 100 s and 130 s nobody has heard.
 */
export class LeasedCache<K extends string | number, V> {
  private readonly entries: LRUCache<K, Entry<V>>;
  /** Counts changes. */
  private generation = 0;
  private epoch = 0;

  /**
   * @param graceMs how short a time ago that has to have been certain which is served where the database cannot be asked
   * @param changed which entry an invalidation is about, or which ones; undefined where it is about none of this cache's
   */
  constructor(
    private readonly invalidations: Invalidations,
    max: number,
    private readonly graceMs: number,
    changed: (invalidation: Invalidation) => K | ((key: K, value: V) => boolean) | undefined,
  ) {
    this.entries = new LRUCache({ max });
    invalidations.on(
      (invalidation) => {
        const which = changed(invalidation);
        if (which !== undefined) this.forget(which);
      },
      () => this.endEpoch(),
    );
  }

  /** What may be believed at this moment. */
  believed(key: K): V | undefined {
    const entry = this.entries.get(key);
    return entry?.epoch === this.epoch && this.invalidations.leased ? entry.value : undefined;
  }

  /**
   * What is served where the database cannot be asked: that was certain a short time ago. Nothing while the replica
   * holds a lease: then the database is there, whatever became of the question.
   */
  known(key: K): V | undefined {
    const entry = this.entries.peek(key);
    if (!entry || this.invalidations.leased) return undefined;
    const isCurrent = entry.epoch === this.epoch;
    const heardAt = isCurrent ? Math.max(entry.certainUntil, this.invalidations.heardAt) : entry.certainUntil;
    return performance.now() - heardAt <= this.graceMs ? entry.value : undefined;
  }

  /**
   * What the database says now, which is kept; what is {@link known} where it cannot be asked. The question after what
   * was read before is put a second time where it was lost, and the database is back by then: connections may hang that
   * are from before it was away.
   * @param read undefined where there is nothing of that key
   * @throws what `read` throws
   */
  async ask<R extends V | undefined>(key: K, read: () => Promise<R>): Promise<Told<R | V>> {
    const wasRead = this.entries.has(key);
    for (let isLast = false; ; isLast = true) {
      try {
        return await this.askOnce(key, read);
      } catch (error) {
        const value = this.known(key);
        if (value !== undefined) return { value, isInGrace: true };
        if (isLast || !wasRead || !this.invalidations.leased) throw error;
      }
    }
  }

  private async askOnce<R extends V | undefined>(key: K, read: () => Promise<R>): Promise<Told<R>> {
    const beginning = { generation: this.generation, epoch: this.epoch, beganAt: performance.now() };
    const value = await read();
    if (value === undefined) this.entries.delete(key);
    else this.keep(key, value, beginning);
    return { value, isInGrace: false };
  }

  private keep(key: K, value: V, { generation, epoch, beganAt }: Beginning): void {
    if (generation !== this.generation || epoch !== this.epoch) return;
    this.entries.set(key, { value, epoch, certainUntil: beganAt });
  }

  private forget(which: K | ((key: K, value: V) => boolean)): void {
    this.generation++;
    if (typeof which !== 'function') this.entries.delete(which);
    else
      for (const [key, { value }] of this.entries.entries()) if (which(key, value)) this.entries.delete(key);
  }

  private endEpoch(): void {
    const { heardAt } = this.invalidations;
    for (const entry of this.entries.values()) {
      if (entry.epoch === this.epoch) entry.certainUntil = Math.max(entry.certainUntil, heardAt);
    }
    this.epoch++;
  }
}
