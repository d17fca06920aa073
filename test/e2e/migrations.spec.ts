import { DataSource } from 'typeorm';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { dataSourceOptions } from '../../src/database/connection/data-source.js';
import { migrateDatabase } from '../../src/database/database.module.js';
import { migrate } from '../../src/database/migrate.js';
import { SpendControl1764700000000 } from '../../src/database/migrations/1764700000000-spend-control.js';
import { BASELINE, migrations } from '../../src/database/migrations/index.js';
import { startApp } from '../support/app.js';
import { connect as connectAlone, createDatabase, lockedOut } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { inParallel } from '../support/parallel.js';

let database: TestDatabase;

beforeEach(async () => {
  database = await createDatabase({ empty: true });
});
afterEach(() => database.drop());

const connect = () => new DataSource(dataSourceOptions(database.url)).initialize();

/** Text that describes the whole schema. */
async function schema(): Promise<unknown[]> {
  return database.query(`
    SELECT 'column' AS kind, table_name AS name, column_name || ' ' || data_type || ' ' || is_nullable || ' ' ||
      coalesce(column_default, '') || coalesce(identity_generation, '') AS definition
    FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> 'migrations'
    UNION ALL SELECT 'constraint', conname, pg_get_constraintdef(oid) FROM pg_constraint
      WHERE connamespace = 'public'::regnamespace AND conrelid <> coalesce(to_regclass('migrations'), 0)
    UNION ALL SELECT 'index', indexname, indexdef FROM pg_indexes
      WHERE schemaname = 'public' AND tablename <> 'migrations'
    UNION ALL SELECT 'routine', proname, pg_get_function_identity_arguments(oid) FROM pg_proc
      WHERE pronamespace = 'public'::regnamespace
    ORDER BY 1, 2, 3`);
}

it('entities and migrations agree', async () => {
  const app = await startApp();
  const { upQueries } = await app.app.get(DataSource).driver.createSchemaBuilder().log();
  await app.close();
  expect(upQueries.map(({ query }) => query)).toEqual([]);
});

it('every migration can be reverted', async () => {
  const dataSource = await connect();
  await dataSource.runMigrations();
  const before = await schema();
  expect(before.length).toBeGreaterThan(20);
  for (const _ of dataSource.migrations) await dataSource.undoLastMigration();
  expect(await schema()).toEqual([]);
  await dataSource.runMigrations();
  expect(await schema()).toEqual(before);
  await dataSource.destroy();
});

it('a database of an earlier version is rejected in one line and stays unchanged', async () => {
  await database.query('CREATE TABLE migrations (id serial, timestamp bigint, name text)');
  await database.query(
    `INSERT INTO migrations (timestamp, name) VALUES (1764500400000, 'SystemIdentity1764500400000')`,
  );
  const before = await schema();
  const message =
    'DATABASE_URL names a database of a version before 0.2, which cannot be migrated: name an empty database ' +
    '(with the embedded PostgreSQL: set DATA_DIR to an empty folder)';
  for (const start of [() => startApp({}, { database }), () => migrateDatabase(database.url)])
    await expect(start()).rejects.toThrow(message);
  expect(await schema()).toEqual(before);
});

it('spend control is added to a database in use without rewriting usage', async () => {
  const dataSource = await connect();
  await new BASELINE().up(dataSource.createQueryRunner());
  await dataSource.query(`
    CREATE TABLE usage_records_2026_01 (LIKE usage_records INCLUDING ALL);
    ALTER TABLE usage_records ATTACH PARTITION usage_records_2026_01 FOR VALUES FROM ('2026-01-01') TO ('2026-02-01');
    INSERT INTO usage_records (id, at, request_id, organization_id, user_id, key_id, method, path, stream, status,
      outcome, usage_source, latency_ms, attempts)
    SELECT gen_random_uuid(), '2026-01-05', 'a', 1, 'ann', 1, 'POST', '/v1/x', false, 200, 'ok', 'none', 1, '[]'
    FROM generate_series(1, 1000);
    INSERT INTO usage_rollups (granularity, start, organization_id, user_id, key_id, upstream_id, status, last_at, requests,
      errors, latency_ms, ttft_requests, histogram)
    VALUES ('day', '2026-01-05', 1, 'ann', 1, 1, 200, '2026-01-05', 1000, 0, 1, 0, '{}')`);
  const files = () =>
    database.query(
      `SELECT relname, relfilenode FROM pg_class WHERE relname ~ '^usage_' AND relkind IN ('r', 'i') ORDER BY 1`,
    );
  const before = (await files()).filter(({ relname }) => !String(relname).startsWith('usage_recent'));
  await new SpendControl1764700000000().up(dataSource.createQueryRunner());
  const after = (await files()).filter(({ relname }) => !String(relname).startsWith('usage_recent'));
  expect(after).toEqual(before);
  const [row] = await database.query(
    'SELECT DISTINCT cost_usd, price_source, upstream_model FROM usage_records',
  );
  expect(row).toEqual({ cost_usd: null, price_source: 'none', upstream_model: null });
  expect(await database.query('SELECT priced_requests, cost_usd FROM usage_rollups')).toEqual([
    { priced_requests: 0, cost_usd: null },
  ]);
  await dataSource.destroy();
});

it('a database whose migrations were interrupted is migrated', async () => {
  await database.query('CREATE TABLE migrations (id serial PRIMARY KEY, timestamp bigint, name text)');
  expect(await migrateDatabase(database.url)).toEqual(migrations.map((migration) => migration.name));
});

it('a migration may exceed the statement timeout', async () => {
  const options = dataSourceOptions(database.url);
  const extra = { ...(options.extra as object), statement_timeout: 2_000 }; // enough to connect
  const dataSource = await new DataSource({
    ...options,
    migrations: [SlowMigration1700000000000],
    extra,
  }).initialize();
  expect(await migrate(dataSource)).toEqual(['SlowMigration1700000000000']);
  await expect(dataSource.query('SELECT pg_sleep(30)')).rejects.toThrow('statement timeout');
  await dataSource.destroy();
});

it('a migration that waits for a table does not block reads, and completes when the table is free', async () => {
  const told: string[] = [];
  const [dataSource, replica] = await inParallel(2, connectBusy);
  await database.query('CREATE TABLE busy (id bigint)');
  const [backup, reader] = await inParallel(2, () => connectAlone(database));
  await backup!.query('BEGIN; LOCK TABLE busy IN ACCESS SHARE MODE');
  const migrated = migrate(dataSource!, (message) => told.push(message));
  await lockedOut(database, 1);
  const waited = migrate(replica!);
  await lockedOut(database, 2);
  await reader!.query(`SET statement_timeout = '15s'`);
  expect((await reader!.query('SELECT * FROM busy')).rows).toEqual([]);
  await backup!.query('COMMIT');
  expect(await migrated).toEqual(['FirstMigration1700000000000', 'BusyMigration1700000000001']);
  expect(told).toEqual(['a migration waits for a table that is in use']);
  expect(await waited).toEqual([]);
  const [row] = await dataSource!.query<{ lock_timeout: string }[]>('SHOW lock_timeout');
  expect(row!.lock_timeout).toBe('0');
  await Promise.all([backup!.end(), reader!.end(), dataSource!.destroy(), replica!.destroy()]);
});

it('sessions use UTC, ISO 8601 and read committed, whatever the database and the URL specify', async () => {
  const { pathname } = new URL(database.url);
  const name = pathname.slice(1);
  await database.query(`ALTER DATABASE "${name}" SET timezone = 'Asia/Tokyo'`);
  await database.query(`ALTER DATABASE "${name}" SET datestyle = 'German'`);
  await database.query(`ALTER DATABASE "${name}" SET default_transaction_isolation = 'repeatable read'`);
  for (const query of ['', '?options=-c%20search_path%3Dpublic', '?options=-c%20timezone%3DAsia/Tokyo']) {
    const dataSource = await new DataSource(dataSourceOptions(database.url + query)).initialize();
    const [row] = await dataSource.query<{ at: string; path: string; isolation: string }[]>(
      `SELECT '2030-01-01T00:00:00Z'::timestamptz AS at, current_setting('search_path') AS path,
         current_setting('transaction_isolation') AS isolation`,
    );
    expect(row).toMatchObject({ at: '2030-01-01T00:00:00.000Z', isolation: 'read committed' });
    if (query.includes('search_path')) expect(row!.path).toBe('public');
    await dataSource.destroy();
  }
});

class SlowMigration1700000000000 implements MigrationInterface {
  readonly name = 'SlowMigration1700000000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('SELECT pg_sleep(3)');
  }

  async down(): Promise<void> {
    // nothing was migrated
  }
}

class FirstMigration1700000000000 implements MigrationInterface {
  readonly name = 'FirstMigration1700000000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE first (id bigint)');
  }

  async down(): Promise<void> {
    // never reverted
  }
}

/** Fails when it is run again after its first half was committed. */
class BusyMigration1700000000001 implements MigrationInterface {
  readonly name = 'BusyMigration1700000000001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE half (id bigint)');
    await runner.query('ALTER TABLE busy ADD COLUMN name text');
  }

  async down(): Promise<void> {
    // never reverted
  }
}

function connectBusy(): Promise<DataSource> {
  const migrations = [FirstMigration1700000000000, BusyMigration1700000000001];
  return new DataSource({ ...dataSourceOptions(database.url), migrations }).initialize();
}

it('replicas may migrate concurrently', async () => {
  const sources = await inParallel(8, connect);
  await Promise.all(sources.map((source) => migrate(source)));
  const [row] = await database.query<{ count: number }>('SELECT count(*)::int AS count FROM migrations');
  expect(row!.count).toBe(sources[0]!.migrations.length);
  await Promise.all(sources.map((source) => source.destroy()));
});

it('replicas may start together on an empty database', async () => {
  const apps = await inParallel(2, () => startApp({}, { database }));
  for (const app of apps) await app.anonymous.get('/readyz').expect(200);
  await Promise.all(apps.map((app) => app.close()));
});
