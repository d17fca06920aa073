import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { QueryRunner } from 'typeorm';
import { Gate } from '../common/gate.js';
import { Settings } from '../config/settings.js';
import { LOCKS_OF_JOBS } from '../database/advisory-locks.js';

/** With these, what jobs and requests do comes to an end, however many jobs are at it. */
const CONNECTIONS_WITHOUT_JOBS = 2;
/** Timers of replicas drift: a turn that comes this much of its period early is on time. */
const ON_TIME = 0.9;

/** Due is also what was begun in the future: the clock was put back since, perhaps by years. */
const TAKE_TURN = `
  INSERT INTO jobs AS j (name, begun_at) VALUES ($1, clock_timestamp())
  ON CONFLICT (name) DO UPDATE SET begun_at = excluded.begun_at
    WHERE j.begun_at <= excluded.begun_at - make_interval(secs => $2) OR j.begun_at > excluded.begun_at
  RETURNING name`;

/**
 * Sees to it that of all replicas one does a job, once in its period. A lock of PostgreSQL's is held while it does,
 * so that a job which takes longer than its period is not begun again; it goes with the connection of a replica that
 * dies. Time is the database's.
 */
@Injectable()
export class JobTurns {
  /** A job has a connection for its lock, and needs others beside it. */
  private readonly gate: Gate;

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    { databasePoolSize }: Settings,
  ) {
    this.gate = new Gate(databasePoolSize - CONNECTIONS_WITHOUT_JOBS, 0, (waitedMs) => {
      return new Error(`other jobs have had all connections for ${waitedMs} ms`);
    });
  }

  /** @returns whether it was this replica's turn, and the work is done. @throws what the work throws */
  take(name: string, everySeconds: number, work: () => Promise<void>): Promise<boolean> {
    return this.gate.run(() => this.takeLocked(name, everySeconds, work), everySeconds * 1_000);
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
  const rows = (await connection.query(TAKE_TURN, [name, everySeconds * ON_TIME])) as unknown[];
  return rows.length === 1;
}

/** A connection that is lost has given up its locks. */
async function unlock(connection: QueryRunner, lock: readonly unknown[]): Promise<void> {
  await connection.query('SELECT pg_advisory_unlock($1, hashtext($2))', [...lock]).catch(() => undefined);
}
