import { Module } from '@nestjs/common';
import type { DynamicModule, INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ConfigModule } from '../config/config.module.js';
import { DatabaseModule } from '../database/database.module.js';
import { Jobs } from '../jobs/jobs.js';
import { MetricsModule } from '../metrics/metrics.module.js';
import type { CommandContext } from './command.js';

/** Feature modules of a command. Jobs are not scheduled, because only replicas of the service run them. */
@Module({})
class CommandModule {
  static with({ settings, databaseUrl }: CommandContext, features: readonly Feature[]): DynamicModule {
    const database = DatabaseModule.connect(databaseUrl, settings.databasePoolSize);
    const shared = [ConfigModule.with(settings), MetricsModule, database];
    return {
      module: CommandModule,
      global: true,
      imports: [...shared, ...features],
      providers: [{ provide: Jobs, useValue: { add: () => undefined } }],
      exports: [Jobs],
    };
  }
}

type Feature = (new (...args: never[]) => object) | DynamicModule;

/** Migrates the database, starts the modules, and calls `work`. Errors are thrown and not logged. */
export async function withModules<T>(
  context: CommandContext,
  features: readonly Feature[],
  work: (app: INestApplicationContext) => Promise<T>,
): Promise<T> {
  const app = await NestFactory.createApplicationContext(CommandModule.with(context, features), {
    logger: false,
    abortOnError: false,
  });
  try {
    return await work(app);
  } finally {
    await app.close();
  }
}
