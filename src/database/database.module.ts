import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { getDataSourceToken, InjectDataSource, TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { DataSourceOptions } from 'typeorm';
import { errorMessage } from '../common/logging/error-message.js';
import { SettingsError } from '../config/environment.js';
import { dataSourceOptions, poolOf, STATEMENT_TIMEOUT_MS } from './connection/data-source.js';
import { connectionRemedy } from './connection/sql-states.js';
import { assertUsable } from './connection/database-check.js';
import { Invalidations } from './invalidation/invalidations.js';
import { migrate } from './migrate.js';
import { Metrics } from '../metrics/metrics.js';
import { createObservedClient } from './connection/pool-client.js';
import { PreparedQueries } from './connection/prepared-queries.js';
import { Transactions } from './transactions/transactions.js';
import { UrgentQueries } from './connection/urgent-queries.js';

/** Response timeout of a statement. PostgreSQL cancels statements earlier, unless it is unreachable. */
const RESPONSE_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 5_000;

/** Connection pool of PostgreSQL. The database is migrated before anything else uses it. */
@Module({})
export class DatabaseModule {
  constructor(@InjectDataSource() dataSource: DataSource, metrics: Metrics) {
    const pool = poolOf(dataSource);
    metrics.gauge('mintkeep_database_busy_connections', 'Connections of the pool in use', () => {
      return pool.totalCount - pool.idleCount;
    });
    metrics.gauge('mintkeep_database_waiting_requests', 'Requests that wait for a connection', () => {
      return pool.waitingCount;
    });
  }

  /** @param urgentTimeoutMs time until the database counts as unreachable for {@link UrgentQueries} */
  static connect(url: string, poolSize: number, urgentTimeoutMs?: number): DynamicModule {
    return {
      module: DatabaseModule,
      global: true,
      imports: [
        TypeOrmModule.forRootAsync({
          inject: [Metrics],
          useFactory: (metrics: Metrics) => ({
            ...withMetrics(dataSourceOptions(url, poolSize), metrics),
            autoLoadEntities: true,
            retryAttempts: 5,
            retryDelay: 1_000,
            toRetry: (error) => !(error instanceof SettingsError),
          }),
          dataSourceFactory: async (options) => {
            await migrateDatabase(url);
            return connect(new DataSource(options!));
          },
        }),
      ],
      providers: [
        PreparedQueries,
        {
          provide: UrgentQueries,
          inject: [getDataSourceToken(), Metrics],
          useFactory: (...dependencies: [DataSource, Metrics]) =>
            new UrgentQueries(...dependencies, urgentTimeoutMs),
        },
        Transactions,
        Invalidations,
      ],
      exports: [PreparedQueries, UrgentQueries, Transactions, Invalidations],
    };
  }
}

/**
 * Checks and migrates the database over separate connections, which have no statement timeout.
 * @param onWait receives a message when the migration has to wait
 * @returns the names of the migrations that were run
 * @throws SettingsError when mintkeep cannot use the database
 */
export async function migrateDatabase(url: string, onWait?: (message: string) => void): Promise<string[]> {
  const dataSource = await connect(new DataSource(dataSourceOptions(url)));
  try {
    await assertUsable(dataSource);
    return await migrate(dataSource, onWait);
  } finally {
    await dataSource.destroy();
  }
}

/**
 * @throws SettingsError when PostgreSQL rejects the user, the password or the database, which a retry does not change
 * @throws Error that names the setting
 */
export async function connect(dataSource: DataSource): Promise<DataSource> {
  try {
    return await dataSource.initialize();
  } catch (error) {
    const remedy = connectionRemedy(error);
    if (remedy !== undefined)
      throw new SettingsError(`DATABASE_URL is rejected: ${errorMessage(error)}; ${remedy}`, {
        cause: error,
      });
    throw new Error('the database (DATABASE_URL)', { cause: error });
  }
}

function withMetrics(options: DataSourceOptions, { dependencies }: Metrics): DataSourceOptions {
  const Client = createObservedClient(RESPONSE_TIMEOUT_MS, dependencies.databaseQueried);
  return { ...options, extra: { ...(options.extra as object), Client } };
}
