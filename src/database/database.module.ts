import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { DataSourceOptions } from 'typeorm';
import { dataSourceOptions } from './data-source.js';
import { Invalidations } from './invalidations.js';
import { migrate } from './migrate.js';
import { Metrics } from '../metrics/metrics.js';
import { measuredClient } from './measured-client.js';
import { PreparedQueries } from './prepared.js';
import { PoolMetrics } from './pool-metrics.js';
import { Transactions } from './transactions.js';

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
            const dataSource = await connected(new DataSource(options!));
            await migrate(dataSource);
            return dataSource;
          },
        }),
      ],
      providers: [PreparedQueries, Transactions, Invalidations, PoolMetrics],
      exports: [PreparedQueries, Transactions, Invalidations],
    };
  }
}

async function connected(dataSource: DataSource): Promise<DataSource> {
  try {
    return await dataSource.initialize();
  } catch (error) {
    throw new Error('the database (DATABASE_URL)', { cause: error });
  }
}

function measured(options: DataSourceOptions, { dependencies }: Metrics): DataSourceOptions {
  const Client = measuredClient((...query) => dependencies.databaseQueried(...query));
  return { ...options, extra: { ...(options.extra as object), Client } };
}
