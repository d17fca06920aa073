import pg from 'pg';
import { eventually } from '../../test/support/eventually.js';
import { databaseCpuMs } from '../support/database-cpu.js';
import type { Workspace } from '../support/workspace.js';

/** Counters of PostgreSQL. Differences of two readings are figures. */
export interface Reading {
  readonly cpuMs: number;
  readonly transactions: number;
  readonly walBytes: number;
  /** Size of the usage records with their indexes. */
  readonly recordBytes: number;
}

const WRITTEN_WITHIN_MS = 60_000;

const READ = `
  SELECT (SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database())::float8
      AS "transactions",
    (pg_current_wal_insert_lsn() - '0/0')::float8 AS "walBytes",
    (SELECT sum(pg_total_relation_size(inhrelid)) FROM pg_inherits
      WHERE inhparent = 'usage_records'::regclass)::float8 AS "recordBytes"`;

/** Requests of all usage records. The sums are read, because counting the records would cost CPU time. */
const RECORDED = `SELECT coalesce(sum(requests), 0)::float8 AS n FROM usage_rollups WHERE granularity = 'month'`;

const CONNECTIONS = `
  SELECT count(*)::float8 AS n FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`;

/** Reads figures of PostgreSQL over a connection of its own. */
export class DatabaseObserver {
  private constructor(
    private readonly client: pg.Client,
    private readonly workspace: Workspace,
  ) {}

  static async open(workspace: Workspace): Promise<DatabaseObserver> {
    const client = new pg.Client({ connectionString: workspace.databaseUrl });
    await client.connect();
    return new DatabaseObserver(client, workspace);
  }

  async read(): Promise<Reading> {
    const { rows } = await this.client.query<Omit<Reading, 'cpuMs'>>(READ);
    return { ...rows[0]!, cpuMs: databaseCpuMs(this.workspace) };
  }

  /**
   * Writes all changed pages. Afterwards the first change of each page costs the WAL of a whole page; a checkpoint before
   * the warm-up keeps this cost out of the measurements.
   */
  async checkpoint(): Promise<void> {
    await this.client.query('CHECKPOINT');
  }

  /** Number of requests with a usage record. */
  recorded(): Promise<number> {
    return this.number(RECORDED);
  }

  /** Resolves when the requests have usage records. @throws Error after a minute */
  async waitForRecords(requests: number): Promise<void> {
    await eventually(async () => {
      const missing = requests - (await this.recorded());
      if (missing > 0) throw new Error(`${missing} usage records are missing after a minute`);
    }, WRITTEN_WITHIN_MS);
  }

  /** Number of connections, without the own one. */
  connections(): Promise<number> {
    return this.number(CONNECTIONS);
  }

  close(): Promise<void> {
    return this.client.end();
  }

  private async number(query: string): Promise<number> {
    const { rows } = await this.client.query<{ n: number }>(query);
    return rows[0]!.n;
  }
}
