import { Injectable } from '@nestjs/common';
import type { OnApplicationShutdown } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import pg from 'pg';
import { DataSource } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions.js';
import { Metrics } from '../metrics/metrics.js';
import { idleConnectionLost } from './data-source.js';
import { poolClient } from './pool-client.js';
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
  private readonly pool: pg.Pool;

  constructor(@InjectDataSource() dataSource: DataSource, { dependencies }: Metrics) {
    const options = dataSource.options as PostgresDataSourceOptions;
    this.pool = new pg.Pool({
      ...(options.extra as pg.PoolConfig),
      connectionString: options.url,
      max: POOL_SIZE,
      connectionTimeoutMillis: LIMIT_MS,
      Client: poolClient(LIMIT_MS, (...query) => dependencies.databaseQueried(...query)),
    });
    this.pool.on('error', idleConnectionLost);
  }

  /**
   * What fails at once is asked once more: the connection may be one from before the database was away.
   * @throws Error when the database does not answer in time: with a connection, and to the statement
   */
  async rows<Row extends pg.QueryResultRow>(statement: PreparedStatement, values: unknown[]): Promise<Row[]> {
    const beganAt = performance.now();
    try {
      return await preparedRows<Row>(this.pool, statement, values);
    } catch (error) {
      if (performance.now() - beganAt > AT_ONCE_MS) throw error;
      return preparedRows<Row>(this.pool, statement, values);
    }
  }

  onApplicationShutdown(): Promise<void> {
    return this.pool.end();
  }
}
