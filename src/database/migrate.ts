import { setTimeout as pause } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { MigrationExecutor } from 'typeorm';
import type { DataSource } from 'typeorm';
import { MIGRATION_LOCK } from './transactions/advisory-locks.js';
import { isLockTimeout } from './connection/sql-states.js';

/**
 * Lock timeout of a migration. A statement that waits for an exclusive lock on a table blocks all later statements on
 * the table, including reads. The timeout exceeds the 1 s (`deadlock_timeout`) after which autovacuum yields.
 */
const LOCK_TIMEOUT_MS = 1_200;
const RETRY_INTERVAL_MS = 5_000;

/**
 * Runs the pending migrations. Replicas that start together wait for the one that migrates. While a table is in use,
 * for example by a backup, the migration is retried.
 * @param onWait receives one message when the migration has to wait for a table
 * @returns the names of the migrations that were run
 */
export async function migrate(dataSource: DataSource, onWait = warn): Promise<string[]> {
  const connection = dataSource.createQueryRunner();
  try {
    // No timeout: neither for a migration nor for the wait for another replica that migrates.
    await connection.query('SET statement_timeout = 0; SET lock_timeout = 0');
    await connection.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await connection.query(`SET lock_timeout = ${LOCK_TIMEOUT_MS}`);
    dataSource.logger.logMigration = () => undefined; // TypeORM would log each failed attempt, in its own format
    const executor = new MigrationExecutor(dataSource, connection);
    executor.transaction = dataSource.options.migrationsTransactionMode ?? 'all';
    return await runPending(executor, onWait);
  } finally {
    await connection.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]).catch(() => undefined);
    await connection.query('RESET lock_timeout; RESET statement_timeout').catch(() => undefined);
    await connection.release();
  }
}

/** Retries after a lock timeout. Only the migration that timed out is rolled back. */
async function runPending(executor: MigrationExecutor, onWait: (message: string) => void): Promise<string[]> {
  const names = new Set<string>();
  for (let isFirst = true; ; isFirst = false) {
    try {
      for (const { name } of await executor.getPendingMigrations()) names.add(name);
      await executor.executePendingMigrations();
      return [...names];
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
    }
    if (isFirst) onWait('a migration waits for a table that is in use');
    await pause(RETRY_INTERVAL_MS);
  }
}

function warn(message: string): void {
  new Logger('Migrations').warn(message);
}

/** Whether the database has a schema of mintkeep, of any version. {@link migrate} would create one in any other database. */
export async function hasSchema(dataSource: DataSource): Promise<boolean> {
  const [row] = await dataSource.query<{ found: boolean }[]>(
    `SELECT to_regclass('object_deletions') IS NOT NULL AS found`,
  );
  return row!.found;
}
