import type { DataSource } from 'typeorm';

/** Any negative number, as the others lock documents; what counts is that every replica takes the same. */
const MIGRATION_LOCK = -7_461_001;

/**
 * Brings the schema up to date. Replicas that start together wait for the one that is at it.
 * @returns the names of the migrations that were run
 */
export async function migrate(dataSource: DataSource): Promise<string[]> {
  const lock = dataSource.createQueryRunner();
  try {
    await lock.query('SET statement_timeout = 0'); // the wait is as long as the other replica's migration
    await lock.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    return (await dataSource.runMigrations()).map(({ name }) => name);
  } finally {
    await lock.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]).catch(() => undefined);
    await lock.query('RESET statement_timeout').catch(() => undefined);
    await lock.release();
  }
}
