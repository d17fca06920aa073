import type pg from 'pg';
import { LOCKS_OF_JOBS } from '../../src/database/transactions/advisory-locks.js';
import { connect } from './database.js';
import type { TestDatabase } from './database.js';

/**
 * Prevents the scheduled runs of a job on all replicas, until the connection ends. A test that does the work of the
 * job itself would race with them.
 */
export async function holdBackJob(database: TestDatabase, name: string): Promise<pg.Client> {
  const holder = await connect(database);
  await holder.query('SELECT pg_advisory_lock($1, hashtext($2))', [LOCKS_OF_JOBS, name]);
  return holder;
}
