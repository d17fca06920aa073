import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { DataSourceOptions } from 'typeorm';
import { dataSourceOptions, STATEMENT_TIMEOUT_MS } from './data-source.js';
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
  static connect(url: string): DynamicModule {
    return {
      module: DatabaseModule,
      global: true,
      imports: [
        TypeOrmModule.forRootAsync({
          inject: [Metrics],
          useFactory: (metrics: Metrics) => ({
            ...measured(dataSourceOptions(url), metrics),
            autoLoadEntities: true,
            retryAttempts: 5,
            retryDelay: 1_000,
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

/** Over connections of its own: a migration takes as long as it takes. */
async function bringUpToDate(url: string): Promise<void> {
  const dataSource = await connected(new DataSource(dataSourceOptions(url)));
  try {
    await migrate(dataSource);
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
