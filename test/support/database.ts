import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { eventually } from './eventually.js';

/** Separate database with the schema and without rows. */
export interface TestDatabase {
  readonly url: string;
  query<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>;
  /** Ends all connections and rejects new ones. */
  rejectConnections(): Promise<void>;
  /** Ends {@link rejectConnections}. */
  acceptConnections(): Promise<void>;
  drop(): Promise<void>;
}

interface DatabaseOptions {
  readonly empty?: boolean;
  /** Encoding of an empty database, instead of UTF8. */
  readonly encoding?: string;
}

/**
 * Clones the migrated template, or creates an empty database, in about 50 ms. Object storage treats all clones as
 * copies of one system; an empty database becomes a separate system.
 */
export async function createDatabase({ empty, encoding }: DatabaseOptions = {}): Promise<TestDatabase> {
  const template = new URL(process.env.TEST_DATABASE_URL!);
  const name = `test_${randomBytes(8).toString('hex')}`;
  const source = empty ? 'template0' : template.pathname.slice(1);
  const locale = encoding ? `ENCODING '${encoding}' LOCALE_PROVIDER libc LOCALE 'C'` : '';
  await administer(`CREATE DATABASE ${name} TEMPLATE ${source} ${locale}`);
  const url = new URL(template);
  url.pathname = `/${name}`;
  const pool = new pg.Pool({ connectionString: url.href, max: 4, options: '-c timezone=UTC' });
  pool.on('error', () => undefined); // tests end connections on purpose
  return {
    url: url.href,
    query: async <Row extends pg.QueryResultRow>(text: string, values?: unknown[]) =>
      (await pool.query<Row>(text, values)).rows,
    rejectConnections: async () => {
      await administer(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
      await administer(endConnections(name));
    },
    acceptConnections: () => administer(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`),
    drop: async () => {
      await pool.end();
      await administer(`DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

/** Returns every row of every table as text, to search for secrets. */
export async function dump({ query }: TestDatabase): Promise<string> {
  const tables = await query<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename`,
  );
  const texts = await Promise.all(
    tables.map(({ name }) => query<{ row: string }>(`SELECT to_jsonb(t)::text AS row FROM ${name} t`)),
  );
  return texts.flatMap((rows) => rows.map(({ row }) => row)).join('\n');
}

/** Opens a separate connection, which holds locks for a test. */
export async function connect({ url }: TestDatabase): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, options: '-c timezone=UTC' });
  client.on('error', () => undefined); // the database of a failed test is dropped under it
  await client.connect();
  return client;
}

/** Resolves when this many statements wait for a lock. */
export function lockedOut(database: TestDatabase, count: number): Promise<void> {
  return eventually(async () => {
    const waiting = await statementsLockedOut(database);
    if (waiting < count) throw new Error(`${waiting} of ${count} statements wait for a lock`);
  });
}

/** Waits until no statement waits for a lock. A statement that is retried holds no lock in between. */
export function nobodyLockedOut(database: TestDatabase): Promise<void> {
  return eventually(async () => {
    const waiting = await statementsLockedOut(database);
    if (waiting > 0) throw new Error(`${waiting} statements wait for a lock`);
  });
}

async function statementsLockedOut({ query }: TestDatabase): Promise<number> {
  const rows = await query<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rows.length;
}

/** Rejects statements that change more than 10,000 rows of a table, as if they exceeded their timeout. */
export async function limitRows(
  { query }: TestDatabase,
  what: 'UPDATE' | 'DELETE',
  table: string,
): Promise<void> {
  await query(`
    CREATE FUNCTION limit_rows() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF (SELECT count(*) FROM changed) > 10000 THEN RAISE 'statement timeout'; END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER limit_rows AFTER ${what} ON ${table} REFERENCING OLD TABLE AS changed
      FOR EACH STATEMENT EXECUTE FUNCTION limit_rows();`);
}

/** Ends {@link limitRows}. */
export async function unlimitRows({ query }: TestDatabase): Promise<void> {
  await query('DROP FUNCTION limit_rows CASCADE');
}

/** Ends all connections to a database, and waits until they have ended. */
const endConnections = (name: string): string => `DO $$ BEGIN
  PERFORM pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}';
  WHILE EXISTS (SELECT FROM pg_stat_activity WHERE datname = '${name}') LOOP
    PERFORM pg_sleep(0.01), pg_stat_clear_snapshot();
  END LOOP;
END $$`;

async function administer(statement: string): Promise<void> {
  const url = new URL(process.env.TEST_DATABASE_URL!);
  url.pathname = '/postgres';
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
