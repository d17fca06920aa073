import pg from 'pg';
import { isAlive } from '../../common/processes.js';
import { isWrongPassword } from '../sql-states.js';
import { SUPERUSER } from './cluster.js';

/** The data folder belongs to another process; nothing of it may be touched. */
export class OwnedByAnother extends Error {
  constructor(readonly pid: number) {
    super(`the owner is process ${pid}`);
  }
}

/** Any number. The lock is taken in the database `postgres`, where the application takes none. */
const OWNER_LOCK = 1;
const CONNECT_TIMEOUT_MS = 2_000;

/** The application name of the connection that holds the lock is the owner's name. */
const FIND_OWNER = `
  SELECT application_name AS owner FROM pg_stat_activity JOIN pg_locks USING (pid)
  WHERE locktype = 'advisory' AND classid = 0 AND objid = $1 AND datname = 'postgres' AND granted`;

export function databaseUrl(port: number, password: string, database: string): string {
  return `postgresql://${SUPERUSER}:${password}@127.0.0.1:${port}/${encodeURIComponent(database)}`;
}

/**
 * The connection whose session-level advisory lock makes us the owner of the server, and with it of the data
 * folder: PostgreSQL releases it when we die, however we die. Undefined: ask again (the server is starting
 * or stopping, or the last owner is just dying).
 * @param owner its process id, and something after a slash that tells it from others in the same process
 * @throws OwnedByAnother
 */
export async function takeOwnership(url: string, owner: string): Promise<pg.Client | undefined> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: owner,
    keepAlive: true,
  });
  client.on('error', () => undefined); // the connection ends then, and that is what is waited for
  try {
    await client.connect();
    if (await lock(client, owner)) return client;
  } catch (error) {
    await close(client);
    if (error instanceof OwnedByAnother || isWrongPassword(error)) throw error;
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
  throw new OwnedByAnother(otherPid);
}

async function close(client: pg.Client): Promise<void> {
  await client.end().catch(() => undefined);
}
