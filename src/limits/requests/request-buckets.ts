import { Injectable } from '@nestjs/common';
import type { BeforeApplicationShutdown } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { PreparedQueries } from '../../database/connection/prepared-queries.js';
import { UrgentQueries } from '../../database/connection/urgent-queries.js';
import { Jobs } from '../../jobs/jobs.js';
import type { LevelLimits } from '../rules/applied-limits.js';
import { LocalBucket } from './local-bucket.js';
import type { Returned } from './shares.js';
import { TAKE } from './take-statement.js';
import type { TakenRow } from './take-statement.js';

/** Time between two exchanges of shares. */
const EXCHANGE_MS = 500;
const EXCHANGES_PER_SECOND = 2;
/** A bucket takes shares in advance for so long after its last request. */
const ACTIVE_MS = 2_000;
/** A bucket that was idle for so long is full again, and is forgotten. */
const IDLE_MS = 70_000;
/** Time after a failed statement for which the replica uses its own count without another try. */
const OFFLINE_MS = 1_000;
/** Maximum number of buckets of one statement. */
const BATCH = 500;

/**
 * Request limits across replicas. The buckets are rows in PostgreSQL. A replica takes shares of them in advance, as many
 * as it expects to need, and returns the rest after a second. A request waits for a statement only if no share is left,
 * and no request locks a row. While the database is unreachable, each replica goes on with its own count, and pays for the
 * tokens with its next statement.
 */
@Injectable()
export class RequestBuckets implements BeforeApplicationShutdown {
  private readonly buckets = new Map<string, LocalBucket>();
  private nextTake?: Promise<void> = undefined;
  private offlineUntil = -Infinity;
  private exchanges = 0;
  private isStopped = false;

  constructor(
    private readonly urgent: UrgentQueries,
    private readonly queries: PreparedQueries,
    jobs: Jobs,
  ) {
    jobs.add({ name: 'forget_request_buckets', everySeconds: 60, work: () => this.deleteIdle() });
  }

  /** Finds the bucket of a limit. */
  get(limits: LevelLimits): LocalBucket {
    const known = this.buckets.get(limits.name);
    known?.update(limits);
    const bucket = known ?? new LocalBucket(limits);
    this.buckets.set(limits.name, bucket);
    return bucket;
  }

  /** Whether the database did not respond a moment ago, so that buckets count on their own. */
  isOffline(now: number): boolean {
    return now < this.offlineUntil;
  }

  /** Takes tokens for one request with all others of this turn of the event loop. Afterwards a token may be missing. */
  async take(buckets: readonly LocalBucket[]): Promise<void> {
    // Tokens that are on their way to the database are missing there.
    await Promise.all(buckets.flatMap(({ exchange }) => exchange ?? []));
    const missing = buckets.filter((bucket) => !bucket.hasToken(performance.now()));
    if (missing.length === 0) return;
    for (const bucket of missing) bucket.waiting++;
    this.nextTake ??= new Promise((resolve) => setImmediate(resolve)).then(() => this.takeForWaiting());
    await this.nextTake;
  }

  /** Takes and returns shares of the active buckets. */
  @Interval(EXCHANGE_MS)
  async exchange(): Promise<void> {
    const now = performance.now();
    if (++this.exchanges % EXCHANGES_PER_SECOND === 0)
      for (const bucket of this.buckets.values()) bucket.endSecond();
    for (const [scope, bucket] of this.buckets) {
      if (!bucket.isIdle(now, IDLE_MS)) continue;
      bucket.isForgotten = true;
      this.buckets.delete(scope);
    }
    if (this.isOffline(now)) return;
    const active = [...this.buckets.values()].filter(
      (bucket) =>
        !bucket.isTaking && (bucket.hasShares || bucket.debt(now) > 0 || !bucket.isIdle(now, ACTIVE_MS)),
    );
    const exchange = this.run(active, (bucket) => ({ wanted: 0, ahead: this.aheadOf(bucket, now) }));
    for (const bucket of active) bucket.exchange = exchange;
    await exchange;
    for (const bucket of active) if (bucket.exchange === exchange) bucket.exchange = undefined;
  }

  /** Returns all shares. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isStopped = true;
    await this.run([...this.buckets.values()], () => ({ wanted: 0, ahead: 0 }));
  }

  private aheadOf(bucket: LocalBucket, now: number): number {
    if (this.isStopped || bucket.isIdle(now, ACTIVE_MS) || bucket.isEmpty(now)) return 0;
    return bucket.wantedAhead(now);
  }

  private async takeForWaiting(): Promise<void> {
    this.nextTake = undefined;
    const waiting = [...this.buckets.values()].filter((bucket) => bucket.waiting > 0);
    for (const bucket of waiting) bucket.takes++;
    await this.run(waiting, (bucket) => {
      const wanted = bucket.waiting;
      bucket.waiting = 0;
      return { wanted, ahead: bucket.wantedAhead(performance.now()) };
    });
    for (const bucket of waiting) bucket.takes--;
  }

  /** Runs the statement for buckets that want or return tokens. Never rejects. */
  private async run(
    buckets: readonly LocalBucket[],
    wantedOf: (bucket: LocalBucket) => Wanted,
  ): Promise<void> {
    const sentAt = performance.now();
    const orders = buckets
      .map((bucket) => ({
        bucket,
        returned: this.isStopped ? bucket.removeShares(sentAt) : bucket.removeOldShares(sentAt),
        debt: bucket.payDebt(sentAt),
        ...wantedOf(bucket),
      }))
      .filter(({ returned, debt, wanted, ahead }) => returned !== undefined || debt + wanted + ahead > 0);
    for (let from = 0; from < orders.length; from += BATCH) {
      await this.runBatch(orders.slice(from, from + BATCH), sentAt);
    }
  }

  private async runBatch(orders: readonly Order[], sentAt: number): Promise<void> {
    const values = [
      orders.map(({ bucket }) => bucket.scope),
      orders.map(({ bucket }) => bucket.capacity),
      orders.map(({ wanted }) => wanted),
      orders.map(({ ahead }) => ahead),
      orders.map(({ returned }) => returned?.tokens ?? 0),
      orders.map(({ returned }) => returned?.takenAt ?? null),
      orders.map(({ debt }) => debt),
    ];
    try {
      const rows = await this.urgent.rowsOnce<TakenRow>(TAKE, values);
      const now = performance.now();
      for (const row of rows) this.buckets.get(row.scope)?.onTaken(row, sentAt, now);
    } catch {
      const now = performance.now();
      for (const { bucket, debt } of orders) bucket.onDebtUnpaid(debt, now);
      this.offlineUntil = now + OFFLINE_MS;
    }
  }

  private async deleteIdle(): Promise<void> {
    await this.queries.rows(DELETE_IDLE, []);
  }
}

/** Tokens to take. */
interface Wanted {
  /** Number for waiting requests. */
  readonly wanted: number;
  /** Number that is taken in advance. */
  readonly ahead: number;
}

interface Order extends Wanted {
  readonly bucket: LocalBucket;
  readonly returned: Returned | undefined;
  /** Tokens that were used without the database. */
  readonly debt: number;
}

/** Rows that are being updated are skipped: a request must not wait for a job. */
const DELETE_IDLE = {
  name: 'limits.delete-idle',
  text: `DELETE FROM request_buckets WHERE scope IN (
    SELECT scope FROM request_buckets WHERE updated_at < now() - interval '5 minutes' FOR UPDATE SKIP LOCKED)`,
};
