import { Injectable } from '@nestjs/common';
import type { OnApplicationShutdown } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import pg from 'pg';
import { DataSource } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions.js';
import { Metrics } from '../metrics/metrics.js';
import { idleConnectionLost } from './data-source.js';
import { observedClient } from './pool-client.js';
import { preparedRows } from './prepared.js';
import type { PreparedStatement } from './prepared.js';

/** What all proxied requests need at most: that is mostly in memory. */
const POOL_SIZE = 4;
const LIMIT_MS = 2_000;
const AT_ONCE_MS = 500;

/**
 * The reads that a proxied request waits for: who asks, and where it goes. Over connections of their own, so that
 * nothing slow is before them, and with little patience: a database that has not answered after 2 s cannot be reached,
 * and whoever can do without it should.
 */
@Injectable()
export class UrgentQueries implements OnApplicationShutdown {
  /** The last one is in use. */
  private readonly pools: pg.Pool[] = [];
  /** As `performance.now()` has it. */
  private replacedAt = -Infinity;

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly metrics: Metrics,
  ) {
    this.pools.push(this.newPool());
  }

  /**
   * What fails at once is asked once more, over a new connection: all there were may be from before the database was
   * away.
   * @throws Error when the database does not answer in time: with a connection, and to the statement
   */
  async rows<Row extends pg.QueryResultRow>(statement: PreparedStatement, values: unknown[]): Promise<Row[]> {
    const beganAt = performance.now();
    const pool = this.pools.at(-1)!;
    try {
      return await preparedRows<Row>(pool, statement, values);
    } catch (error) {
      this.replace(pool);
      if (performance.now() - beganAt > AT_ONCE_MS) throw error;
      return preparedRows<Row>(this.pools.at(-1)!, statement, values);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.pools.map((pool) => pool.end()));
  }

  /** Who waits for a connection of the old one still gets it. */
  private replace(pool: pg.Pool): void {
    const now = performance.now();
    if (pool !== this.pools.at(-1) || now - this.replacedAt < AT_ONCE_MS) return;
    this.replacedAt = now;
    this.pools.push(this.newPool());
    setTimeout(() => {
      const at = this.pools.indexOf(pool);
      if (pool.ending) return;
      this.pools.splice(at, 1);
      void pool.end();
    }, 2 * LIMIT_MS).unref();
  }

  private newPool(): pg.Pool {
    const options = this.dataSource.options as PostgresDataSourceOptions;
    const { dependencies } = this.metrics;
    const pool = new pg.Pool({
      ...(options.extra as pg.PoolConfig),
      connectionString: options.url,
      max: POOL_SIZE,
      connectionTimeoutMillis: LIMIT_MS,
      Client: observedClient(LIMIT_MS, (...query) => dependencies.databaseQueried(...query)),
    });
    return pool.on('error', idleConnectionLost);
  }
}
