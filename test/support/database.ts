import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { eventually } from './eventually.js';

/** A database of its own, with the schema and nothing in it. */
export interface TestDatabase {
  readonly url: string;
  query<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>;
  /** Cuts all connections and lets nobody in. */
  refuse(): Promise<void>;
  /** Ends {@link refuse}. */
  admit(): Promise<void>;
  drop(): Promise<void>;
}

interface DatabaseOptions {
  readonly empty?: boolean;
  /** Of an empty one, in place of UTF8. */
  readonly encoding?: string;
}

/**
 * Clones the migrated template of the run (or makes an empty database), in some 50 ms. All clones are one system to
 * object storage, as copies of a database are; an empty one becomes a system of its own.
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
  pool.on('error', () => undefined); // tests cut connections on purpose
  return {
    url: url.href,
    query: async <Row extends pg.QueryResultRow>(text: string, values?: unknown[]) =>
      (await pool.query<Row>(text, values)).rows,
    refuse: async () => {
      await administer(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
      await administer(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
    },
    admit: () => administer(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`),
    drop: async () => {
      await pool.end();
      await administer(`DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

/** Every row of every table as text: to look for what must not be there. */
export async function dump({ query }: TestDatabase): Promise<string> {
  const tables = await query<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename`,
  );
  const texts = await Promise.all(
    tables.map(({ name }) => query<{ row: string }>(`SELECT to_jsonb(t)::text AS row FROM ${name} t`)),
  );
  return texts.flatMap((rows) => rows.map(({ row }) => row)).join('\n');
}

/** A connection of a test's own, to hold locks with. */
export async function connect({ url }: TestDatabase): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, options: '-c timezone=UTC' });
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

/** Waits for a moment in which no statement waits for a lock: who does so again and again holds none meanwhile. */
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

/** Lets no statement change more than 10,000 rows of a table, as though that took too long. */
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
