import { setTimeout as pause } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { MigrationExecutor } from 'typeorm';
import type { DataSource } from 'typeorm';
import { MIGRATION_LOCK } from './advisory-locks.js';
import { lockNotAvailable } from './sql-states.js';

/**
 * Who waits for a table to themselves makes everybody behind them wait, readers included. Longer than the 1 s
 * (`deadlock_timeout`) after which autovacuum makes way, and no longer than a request can bear.
 */
const LOCK_TIMEOUT_MS = 1_200;
const RETRY_INTERVAL_MS = 5_000;

/**
 * Brings the schema up to date. Replicas that start together wait for the one that is at it; a table that is in use,
 * by a backup for instance, is asked for again and again.
 * @param say is told when that is so, once
 * @returns the names of the migrations that were run
 */
export async function migrate(dataSource: DataSource, say = warn): Promise<string[]> {
  const connection = dataSource.createQueryRunner();
  try {
    // A migration takes as long as it takes, and so does the wait for the replica that is at it.
    await connection.query('SET statement_timeout = 0; SET lock_timeout = 0');
    await connection.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await connection.query(`SET lock_timeout = ${LOCK_TIMEOUT_MS}`);
    dataSource.logger.logMigration = () => undefined; // each try that failed, and not as our logs are
    const executor = new MigrationExecutor(dataSource, connection);
    executor.transaction = dataSource.options.migrationsTransactionMode ?? 'all';
    return await runPending(executor, say);
  } finally {
    await connection.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]).catch(() => undefined);
    await connection.query('RESET lock_timeout; RESET statement_timeout').catch(() => undefined);
    await connection.release();
  }
}

/** What a migration that got no lock has done is rolled back; those before it stay. */
async function runPending(executor: MigrationExecutor, say: (message: string) => void): Promise<string[]> {
  const names = new Set<string>();
  for (let isFirst = true; ; isFirst = false) {
    try {
      for (const { name } of await executor.getPendingMigrations()) names.add(name);
      await executor.executePendingMigrations();
      return [...names];
    } catch (error) {
      if (!lockNotAvailable(error)) throw error;
    }
    if (isFirst) say('a migration waits for others to be done with a table');
    await pause(RETRY_INTERVAL_MS);
  }
}

function warn(message: string): void {
  new Logger('Migrations').warn(message);
}

/** Whether the database is one of ours, even if an older one: {@link migrate} would make any other into one. */
export async function hasSchema(dataSource: DataSource): Promise<boolean> {
  const [row] = await dataSource.query<{ found: boolean }[]>(
    `SELECT to_regclass('object_deletions') IS NOT NULL AS found`,
  );
  return row!.found;
}
