import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { DataSourceOptions } from 'typeorm';
import { SettingsError } from '../config/environment.js';
import { dataSourceOptions, STATEMENT_TIMEOUT_MS } from './data-source.js';
import { assertUsable } from './database-check.js';
import { Invalidations } from './invalidations.js';
import { migrate } from './migrate.js';
import { Metrics } from '../metrics/metrics.js';
import { observedClient } from './pool-client.js';
import { PreparedQueries } from './prepared.js';
import { PoolMetrics } from './pool-metrics.js';
import { Transactions } from './transactions.js';
import { UrgentQueries } from './urgent-queries.js';

/** PostgreSQL has ended the statement by then, or is not there to do it. */
const SILENCE_LIMIT_MS = STATEMENT_TIMEOUT_MS + 5_000;

/** The connection to PostgreSQL, migrated before anything else uses it. */
@Module({})
export class DatabaseModule {
  static connect(url: string, poolSize: number): DynamicModule {
    return {
      module: DatabaseModule,
      global: true,
      imports: [
        TypeOrmModule.forRootAsync({
          inject: [Metrics],
          useFactory: (metrics: Metrics) => ({
            ...measured(dataSourceOptions(url, poolSize), metrics),
            autoLoadEntities: true,
            retryAttempts: 5,
            retryDelay: 1_000,
            toRetry: (error) => !(error instanceof SettingsError),
          }),
          dataSourceFactory: async (options) => {
            await bringUpToDate(url);
            return connected(new DataSource(options!));
          },
        }),
      ],
      providers: [PreparedQueries, UrgentQueries, Transactions, Invalidations, PoolMetrics],
      exports: [PreparedQueries, UrgentQueries, Transactions, Invalidations],
    };
  }
}

/**
 * Migrates a database that can be used, over connections of its own: a migration takes as long as it takes.
 * @param say is told when it has to wait
 * @returns the names of the migrations that were run
 * @throws SettingsError where the database is not one for mintkeep
 */
export async function bringUpToDate(url: string, say?: (message: string) => void): Promise<string[]> {
  const dataSource = await connected(new DataSource(dataSourceOptions(url)));
  try {
    await assertUsable(dataSource);
    return await migrate(dataSource, say);
  } finally {
    await dataSource.destroy();
  }
}

/** @throws Error that names the setting */
export async function connected(dataSource: DataSource): Promise<DataSource> {
  try {
    return await dataSource.initialize();
  } catch (error) {
    throw new Error('the database (DATABASE_URL)', { cause: error });
  }
}

function measured(options: DataSourceOptions, { dependencies }: Metrics): DataSourceOptions {
  const Client = observedClient(SILENCE_LIMIT_MS, (...query) => dependencies.databaseQueried(...query));
  return { ...options, extra: { ...(options.extra as object), Client } };
}
