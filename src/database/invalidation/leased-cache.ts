import { LRUCache } from 'lru-cache';
import type { Invalidations } from './invalidations.js';
import type { Invalidation } from './replica-listener.js';

/**
 * Cache of rows that this replica has read from the database, kept current by {@link Invalidations}.
 *
 * An entry is fresh while the replica holds a lease. An invalidation removes the entry before the change is
 * confirmed to the client that made it. A read during which an invalidation or a gap occurs is not cached, because its
 * value may be the old one.
 *
 * An epoch is a period in which the replica receives every invalidation. Entries of an earlier epoch may have changed
 * in the gap, so they are stale. A stale entry may be served for `graceMs` after the end of its epoch, and only while
 * the database is unreachable.
 *
 * Example with a lease of 2 s, a grace of 60 s and a last heartbeat at 100 s:
 * - An entry read before is fresh until 102 s, and may be served as a stale entry until 160 s.
 * - At 130 s the database is back, and a new epoch begins. The entry has to be read again.
 * - If the database is lost again before that read, the entry may still be served until 160 s.
 */
export class LeasedCache<K extends string | number, V> {
  private readonly entries: LRUCache<K, Entry<V>>;
  /** Number of invalidations. */
  private generation = 0;
  private epoch = 0;

  /**
   * @param graceMs maximum age of an entry that may be served while the database is unreachable. The age counts from the
   *   time at which the entry was last known to be current.
   * @param affected returns the key that an invalidation affects, or a predicate for entries; undefined for none
   */
  constructor(
    private readonly invalidations: Invalidations,
    max: number,
    private readonly graceMs: number,
    affected: (invalidation: Invalidation) => K | ((key: K, value: V) => boolean) | undefined,
  ) {
    this.entries = new LRUCache({ max });
    invalidations.on(
      (invalidation) => {
        const which = affected(invalidation);
        if (which !== undefined) this.invalidate(which);
      },
      () => this.endEpoch(),
    );
  }

  /** Changes whenever an entry may have become stale: by an invalidation or by a gap between leases. */
  get changes(): number {
    return this.generation + this.epoch;
  }

  /** Returns the entry if it is fresh. */
  getFresh(key: K): V | undefined {
    const entry = this.entries.get(key);
    return entry?.epoch === this.epoch && this.invalidations.hasLease ? entry.value : undefined;
  }

  /**
   * Returns an entry that may be served although it is stale. Undefined while the replica holds a lease: then the
   * database is reachable, even if a query has failed.
   */
  getStale(key: K): V | undefined {
    const entry = this.entries.peek(key);
    if (!entry || this.invalidations.hasLease) return undefined;
    const isCurrent = entry.epoch === this.epoch;
    const verifiedAt = isCurrent
      ? Math.max(entry.verifiedAt, this.invalidations.lastHeartbeatAt)
      : entry.verifiedAt;
    return performance.now() - verifiedAt <= this.graceMs ? entry.value : undefined;
  }

  /**
   * Reads the value from the database and caches it. Falls back to {@link getStale} if the database is unreachable.
   * Retries a failed read once if there was an entry and the database is reachable again, because pooled connections
   * may predate an outage.
   * @param query returns undefined if there is no value for the key
   * @throws the error of `query`
   */
  async read<R extends V | undefined>(key: K, query: () => Promise<R>): Promise<CachedRead<R | V>> {
    const wasRead = this.entries.has(key);
    for (let isLast = false; ; isLast = true) {
      try {
        return await this.readOnce(key, query);
      } catch (error) {
        const value = this.getStale(key);
        if (value !== undefined) return { value, isStale: true };
        if (isLast || !wasRead || !this.invalidations.hasLease) throw error;
      }
    }
  }

  private async readOnce<R extends V | undefined>(key: K, query: () => Promise<R>): Promise<CachedRead<R>> {
    const beginning = { generation: this.generation, epoch: this.epoch, beganAt: performance.now() };
    const value = await query();
    if (value === undefined) this.entries.delete(key);
    else this.keep(key, value, beginning);
    return { value, isStale: false };
  }

  private keep(key: K, value: V, { generation, epoch, beganAt }: Beginning): void {
    if (generation !== this.generation || epoch !== this.epoch) return;
    this.entries.set(key, { value, epoch, verifiedAt: beganAt });
  }

  private invalidate(which: K | ((key: K, value: V) => boolean)): void {
    this.generation++;
    if (typeof which !== 'function') this.entries.delete(which);
    else
      for (const [key, { value }] of this.entries.entries()) if (which(key, value)) this.entries.delete(key);
  }

  private endEpoch(): void {
    const { lastHeartbeatAt } = this.invalidations;
    for (const entry of this.entries.values()) {
      if (entry.epoch === this.epoch) entry.verifiedAt = Math.max(entry.verifiedAt, lastHeartbeatAt);
    }
    this.epoch++;
  }
}

/** Value read through a cache. */
export interface CachedRead<V> {
  readonly value: V;
  /** Whether the value comes from the cache because the database is unreachable. */
  readonly isStale: boolean;
}

interface Entry<V> {
  readonly value: V;
  readonly epoch: number;
  /** Time until which the entry was certainly current, as `performance.now()`. */
  verifiedAt: number;
}

/** State of the cache when a read begins. */
interface Beginning {
  readonly generation: number;
  readonly epoch: number;
  /** Time as `performance.now()`. */
  readonly beganAt: number;
}
