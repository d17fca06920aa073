import type { OnApplicationShutdown } from '@nestjs/common';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions.js';
import type { Metrics } from '../../metrics/metrics.js';
import { onIdleConnectionError } from './data-source.js';
import { createObservedClient } from './pool-client.js';
import { preparedRows } from './prepared-queries.js';
import type { PreparedStatement } from './prepared-queries.js';

/** Maximum number of connections. Few suffice, because caches serve most proxied requests. */
const POOL_SIZE = 4;
const TIMEOUT_MS = 2_000;
/** Failures within this time count as immediate. */
const IMMEDIATE_MS = 500;

/**
 * Runs the reads that a proxied request waits for: its key and its upstreams. They have a separate pool, so that no
 * slow statement delays them. After 2 s without a response the database counts as unreachable, and callers fall back
 * to stale entries.
 */
export class UrgentQueries implements OnApplicationShutdown {
  /** The last pool is in use. */
  private readonly pools: pg.Pool[] = [];
  /** Time of the last replacement, as `performance.now()`. */
  private replacedAt = -Infinity;

  constructor(
    private readonly dataSource: DataSource,
    private readonly metrics: Metrics,
    private readonly timeoutMs = TIMEOUT_MS,
  ) {
    this.pools.push(this.newPool());
  }

  /**
   * Retries an immediate failure once on a fresh pool: every pooled connection may predate a restart of the database.
   * @throws Error when neither a connection nor a response arrives in time
   */
  async rows<Row extends pg.QueryResultRow>(statement: PreparedStatement, values: unknown[]): Promise<Row[]> {
    const beganAt = performance.now();
    try {
      return await this.rowsOnce<Row>(statement, values);
    } catch (error) {
      if (performance.now() - beganAt > IMMEDIATE_MS) throw error;
      return preparedRows<Row>(this.pools.at(-1)!, statement, values);
    }
  }

  /** Like {@link rows} without the retry, for a statement that must not be applied twice. */
  async rowsOnce<Row extends pg.QueryResultRow>(
    statement: PreparedStatement,
    values: unknown[],
  ): Promise<Row[]> {
    const pool = this.pools.at(-1)!;
    try {
      return await preparedRows<Row>(pool, statement, values);
    } catch (error) {
      this.replace(pool);
      throw error;
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.pools.map((pool) => pool.end()));
  }

  /** Replaces the pool. The old pool ends later, so that waiting requests still get a connection. */
  private replace(pool: pg.Pool): void {
    const now = performance.now();
    if (pool !== this.pools.at(-1) || now - this.replacedAt < IMMEDIATE_MS) return;
    this.replacedAt = now;
    this.pools.push(this.newPool());
    setTimeout(() => {
      const at = this.pools.indexOf(pool);
      if (pool.ending) return;
      this.pools.splice(at, 1);
      void pool.end();
    }, 2 * this.timeoutMs).unref();
  }

  private newPool(): pg.Pool {
    const options = this.dataSource.options as PostgresDataSourceOptions;
    const pool = new pg.Pool({
      ...(options.extra as pg.PoolConfig),
      connectionString: options.url,
      max: POOL_SIZE,
      connectionTimeoutMillis: this.timeoutMs,
      Client: createObservedClient(this.timeoutMs, this.metrics.dependencies.databaseQueried),
    });
    return pool.on('error', onIdleConnectionError);
  }
}
