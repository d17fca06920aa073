import pg from 'pg';
import { isAlive } from '../common/process/processes.js';
import { isAuthenticationFailure } from '../database/connection/sql-states.js';
import { SUPERUSER } from './cluster.js';

/** Another process owns the data folder, so nothing in the folder may be changed. */
export class ForeignOwner extends Error {
  constructor(readonly pid: number) {
    super(`the owner is process ${pid}`);
  }
}

/** Arbitrary key. The lock is in the database `postgres`, where the application takes no locks. */
const OWNER_LOCK = 1;
const CONNECT_TIMEOUT_MS = 2_000;

/** Reads the owner from the application name of the connection that holds the lock. */
const FIND_OWNER = `
  SELECT application_name AS owner FROM pg_stat_activity JOIN pg_locks USING (pid)
  WHERE locktype = 'advisory' AND classid = 0 AND objid = $1 AND datname = 'postgres' AND granted`;

export function databaseUrl(port: number, password: string, database: string): string {
  return `postgresql://${SUPERUSER}:${password}@127.0.0.1:${port}/${encodeURIComponent(database)}`;
}

/**
 * Opens the connection whose session-level advisory lock makes this process the owner of the server and of the data
 * folder. PostgreSQL releases the lock when the process ends, in whatever way. Undefined means retry: the server
 * starts or stops, or the last owner is ending.
 * @param owner process id, then a slash and a unique suffix for owners in the same process
 * @throws ForeignOwner
 */
export async function takeOwnership(url: string, owner: string): Promise<pg.Client | undefined> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: owner,
    keepAlive: true,
  });
  client.on('error', () => undefined); // the caller listens to the end of the connection, which follows
  try {
    await client.connect();
    if (await lock(client, owner)) return client;
  } catch (error) {
    await close(client);
    if (error instanceof ForeignOwner || isAuthenticationFailure(error)) throw error;
  }
  await close(client);
  return undefined;
}

async function lock(client: pg.Client, owner: string): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [
    OWNER_LOCK,
  ]);
  if (rows[0]?.taken) return true;
  const other = (await client.query<{ owner: string }>(FIND_OWNER, [OWNER_LOCK])).rows[0]?.owner;
  const otherPid = parseInt(other ?? '', 10);
  if (other === owner || Number.isNaN(otherPid) || !isAlive(otherPid)) return false;
  throw new ForeignOwner(otherPid);
}

async function close(client: pg.Client): Promise<void> {
  await client.end().catch(() => undefined);
}
