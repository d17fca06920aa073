import { MigrationExecutor } from 'typeorm';
import type { DataSource } from 'typeorm';

/** Any negative number, as the others lock documents; what counts is that every replica takes the same. */
const MIGRATION_LOCK = -7_461_001;

/**
 * Brings the schema up to date. Replicas that start together wait for the one that is at it.
 * @returns the names of the migrations that were run
 */
export async function migrate(dataSource: DataSource): Promise<string[]> {
  const connection = dataSource.createQueryRunner();
  try {
    await connection.query('SET statement_timeout = 0'); // a migration takes as long as it takes, and so does the wait
    await connection.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const pending = new MigrationExecutor(dataSource, connection);
    pending.transaction = dataSource.options.migrationsTransactionMode ?? 'all';
    return (await pending.executePendingMigrations()).map(({ name }) => name);
  } finally {
    await connection.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]).catch(() => undefined);
    await connection.query('RESET statement_timeout').catch(() => undefined);
    await connection.release();
  }
}

/** Whether the database is one of ours, even if an older one: {@link migrate} would make any other into one. */
export async function hasSchema(dataSource: DataSource): Promise<boolean> {
  const [row] = await dataSource.query<{ found: boolean }[]>(
    `SELECT to_regclass('object_deletions') IS NOT NULL AS found`,
  );
  return row!.found;
}
