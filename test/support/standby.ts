import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { migrateDatabase } from '../../src/database/database.module.js';
import { startEmbeddedPostgres } from '../../src/embedded-postgres/embedded-postgres.js';
import type { EmbeddedPostgres } from '../../src/embedded-postgres/embedded-postgres.js';
import type { TestDatabase } from './database.js';

/** A primary with a migrated database, and a standby that streams its changes. */
export interface Replication {
  readonly primary: TestDatabase;
  readonly standby: TestDatabase;
  /** Ends all connections of the standby and stops it. */
  stopStandby(): Promise<void>;
  stop(): Promise<void>;
}

/** The standby is a copy of the stopped primary, because `embedded-postgres` has no `pg_basebackup`. */
export async function startReplication(folder: string): Promise<Replication> {
  const dataDir = join(folder, 'primary');
  const standbyDir = join(folder, 'standby');
  const created = await startEmbeddedPostgres({ dataDir });
  await migrateDatabase(created.url);
  await created.stop();
  await copyFolder(dataDir, standbyDir);
  await rm(join(standbyDir, 'postgres', 'postmaster.pid'), { force: true });
  await writeFile(join(standbyDir, 'postgres', 'standby.signal'), '');
  const primary = await startEmbeddedPostgres({ dataDir });
  const standby = await startEmbeddedPostgres({
    dataDir: standbyDir,
    settings: { primary_conninfo: conninfo(primary.url) },
  });
  return replicationOf(primary, standby);
}

function replicationOf(primary: EmbeddedPostgres, standby: EmbeddedPostgres): Replication {
  const databases = [primary, standby].map(openDatabase);
  const stopStandby = async () => {
    await databases[1]!.drop();
    await standby.stop();
  };
  return {
    primary: databases[0]!,
    standby: databases[1]!,
    stopStandby,
    stop: async () => {
      await stopStandby();
      await databases[0]!.drop();
      await primary.stop();
    },
  };
}

/** `drop` only closes the connections: the folder is removed as a whole. */
function openDatabase({ url }: EmbeddedPostgres): TestDatabase {
  const pool = new pg.Pool({ connectionString: url, max: 4, options: '-c timezone=UTC' });
  pool.on('error', () => undefined);
  return {
    url,
    query: async <Row extends pg.QueryResultRow>(text: string, values?: unknown[]) =>
      (await pool.query<Row>(text, values)).rows,
    rejectConnections: () => Promise.reject(new Error('not supported')),
    acceptConnections: () => Promise.reject(new Error('not supported')),
    drop: async () => {
      if (!pool.ended) await pool.end();
    },
  };
}

function conninfo(url: string): string {
  const { hostname, port, username, password } = new URL(url);
  return `host=${hostname} port=${port} user=${username} password=${password}`;
}

/** Keeps owners and modes, which PostgreSQL checks. */
async function copyFolder(from: string, to: string): Promise<void> {
  const [code] = (await once(spawn('cp', ['-a', from, to]), 'close')) as [number];
  if (code !== 0) throw new Error(`cp ended with ${code}`);
}
