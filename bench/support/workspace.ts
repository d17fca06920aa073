import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../src/embedded-postgres/embedded-postgres.js';

/** A temporary PostgreSQL and a data folder for one run. */
export interface Workspace {
  readonly databaseUrl: string;
  /** Such as `18.1`. */
  readonly postgresVersion: string;
  readonly dataDir: string;
  stopDatabase(): Promise<void>;
  /** Starts PostgreSQL again, on another port, and returns its URL. */
  startDatabase(): Promise<string>;
  /** Stops PostgreSQL and removes everything. */
  dispose(): Promise<void>;
}

/** PostgreSQL has its default settings and runs on the cores of this process. */
export async function createWorkspace(): Promise<Workspace> {
  const dataDir = await mkdtemp(join(tmpdir(), 'mintkeep-bench-'));
  await chmod(dataDir, 0o755); // PostgreSQL may run as another user
  try {
    let postgres = await startEmbeddedPostgres({ dataDir });
    return {
      databaseUrl: postgres.url,
      postgresVersion: await readVersion(postgres.url),
      dataDir,
      stopDatabase: () => postgres.stop(),
      startDatabase: async () => {
        postgres = await startEmbeddedPostgres({ dataDir });
        return postgres.url;
      },
      dispose: async () => {
        await postgres.stop();
        await rm(dataDir, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await rm(dataDir, { recursive: true, force: true });
    throw error;
  }
}

async function readVersion(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ server_version: string }>('SHOW server_version');
  await client.end();
  return rows[0]!.server_version;
}
