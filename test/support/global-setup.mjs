import 'reflect-metadata';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { dataSourceOptions } from '../../dist/database/data-source.js';
import { startEmbeddedPostgres } from '../../dist/database/embedded/embedded-postgres.js';

/** One real PostgreSQL for the whole run, with a migrated database that every test file clones. */
export default async function globalSetup() {
  const dataDir = await mkdtemp(join(tmpdir(), 'mintkeep-test-'));
  const postgres = await startEmbeddedPostgres({
    dataDir,
    settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '300' },
  });
  const template = await new DataSource(dataSourceOptions(postgres.url)).initialize();
  await template.runMigrations();
  await template.destroy();
  process.env.TEST_DATABASE_URL = postgres.url;
  globalThis.testPostgres = postgres;
  globalThis.testDataDir = dataDir;
}
