import 'reflect-metadata';
import { mkdtemp, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { dataSourceOptions } from '../../dist/database/connection/data-source.js';
import { startEmbeddedPostgres } from '../../dist/embedded-postgres/embedded-postgres.js';
import globalTeardown from './global-teardown.mjs';

const MEMORY = '/dev/shm';
/** Twice the connections of a run at its peak. */
const ROOM_BYTES = 4 * 1024 ** 3;

/** Starts a real PostgreSQL for the whole run, with a migrated database that every test file clones. */
export default async function globalSetup() {
  const dataDir = await mkdtemp(join(await roomiest(), 'mintkeep-test-'));
  const postgres = await startEmbeddedPostgres({
    dataDir,
    settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '500' },
  });
  const template = await new DataSource(dataSourceOptions(postgres.url)).initialize();
  await template.runMigrations();
  await template.destroy();
  process.env.TEST_DATABASE_URL = postgres.url;
  globalThis.testPostgres = postgres;
  globalThis.testDataDir = dataDir;
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => void globalTeardown().finally(() => process.exit(1)));
  }
}

/**
 * Every clone is hundreds of files, soon removed. ext4 gives out no inode that was freed a moment ago, and looks for
 * others for up to 0.3 s a clone: files in memory take 15 ms.
 */
async function roomiest() {
  const memory = await statfs(MEMORY).catch(() => undefined);
  return memory && memory.bavail * memory.bsize > ROOM_BYTES ? MEMORY : tmpdir();
}
