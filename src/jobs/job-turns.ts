import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { QueryRunner } from 'typeorm';
import { Semaphore } from '../common/async/semaphore.js';
import { Settings } from '../config/settings.js';
import { LOCKS_OF_JOBS } from '../database/transactions/advisory-locks.js';

/** Connections that jobs never hold for their locks, so that jobs and requests always make progress. */
const CONNECTIONS_WITHOUT_JOBS = 2;
/** Part of the period after which a job is due again, because the timers of replicas drift. */
const DUE_AFTER = 0.9;

/** SQL: starts a job if it is due. A start in the future is due, too: the clock was set back since, perhaps by years. */
const TAKE_TURN = `
  INSERT INTO jobs AS j (name, begun_at) VALUES ($1, clock_timestamp())
  ON CONFLICT (name) DO UPDATE SET begun_at = excluded.begun_at
    WHERE j.begun_at <= excluded.begun_at - make_interval(secs => $2) OR j.begun_at > excluded.begun_at
  RETURNING name`;

/**
 * Lets one of all replicas run a job, once per period. An advisory lock prevents a second start of a job that takes
 * longer than its period. PostgreSQL releases the lock when the connection of the replica ends. The clock of the database
 * counts.
 */
@Injectable()
export class JobTurns {
  /** Limits the connections for locks. A job needs further connections for its work. */
  private readonly semaphore: Semaphore;

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    { databasePoolSize }: Settings,
  ) {
    this.semaphore = new Semaphore(databasePoolSize - CONNECTIONS_WITHOUT_JOBS, 0, (waitedMs) => {
      return new Error(`other jobs have had all connections for ${waitedMs} ms`);
    });
  }

  /** @returns whether the work was done, on this replica's turn. @throws errors of the work */
  take(name: string, everySeconds: number, work: () => Promise<void>): Promise<boolean> {
    return this.semaphore.run(() => this.takeLocked(name, everySeconds, work), everySeconds * 1_000);
  }

  private async takeLocked(name: string, everySeconds: number, work: () => Promise<void>): Promise<boolean> {
    const connection = this.dataSource.createQueryRunner();
    const lock = [LOCKS_OF_JOBS, name];
    let locked = false;
    try {
      const query = 'SELECT pg_try_advisory_lock($1, hashtext($2)) AS locked';
      const [row] = (await connection.query(query, lock)) as { locked: boolean }[];
      locked = row!.locked;
      if (!locked || !(await isDue(connection, name, everySeconds))) return false;
      await work();
      return true;
    } finally {
      if (locked) await unlock(connection, lock);
      await connection.release();
    }
  }
}

async function isDue(connection: QueryRunner, name: string, everySeconds: number): Promise<boolean> {
  const rows = (await connection.query(TAKE_TURN, [name, everySeconds * DUE_AFTER])) as unknown[];
  return rows.length === 1;
}

/** Ignores errors: a lost connection has released its locks. */
async function unlock(connection: QueryRunner, lock: readonly unknown[]): Promise<void> {
  await connection.query('SELECT pg_advisory_unlock($1, hashtext($2))', [...lock]).catch(() => undefined);
}
