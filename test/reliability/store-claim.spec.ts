import { join } from 'node:path';
import { FileObjectStore } from '../../src/storage/file.object-store.js';
import { MinioObjectStore } from '../../src/storage/minio.object-store.js';
import type { ObjectStore } from '../../src/storage/object-store.js';
import { startApp, testVariables } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { createDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { keysOf } from '../support/object-store-contract.js';
import { inParallel } from '../support/parallel.js';
import { startS3Proxy } from '../support/s3-proxy.js';
import type { S3Proxy } from '../support/s3-proxy.js';
import { startS3 } from '../support/s3.js';
import type { S3 } from '../support/s3.js';
import { serving, startProgram, temporaryFolder } from '../support/service.js';
import type { Program } from '../support/service.js';

const PRODUCTION = { NODE_ENV: 'production', HOST: '127.0.0.1' };

/** Creates the first document of a database. */
async function createDocument(app: TestApp): Promise<void> {
  const anna = await app.as('anna');
  await anna.post('/me/projects').send({ name: 'Handbook' }).expect(201);
  const document = { title: 't', slug: 's', content: `of ${app.database.url}` };
  await anna.post('/me/projects/1/documents').send(document).expect(201);
}

/** Reads the document, whose body has to match the row. */
async function expectDocument(app: TestApp): Promise<void> {
  const { body } = await (await app.as('anna')).get('/me/projects/1/documents/1').expect(200);
  expect(body.content).toBe(`of ${app.database.url}`);
}

/** Object storage that outlives the services. */
interface Storage {
  readonly variables: NodeJS.ProcessEnv;
  readonly store: ObjectStore;
  stop(): Promise<void>;
}

async function inFiles(): Promise<Storage> {
  const dataDir = await temporaryFolder();
  const store = new FileObjectStore(join(dataDir, 'objects'));
  return { variables: { DATA_DIR: dataDir }, store, stop: () => Promise.resolve() };
}

const s3Variables = ({ accessKey, secretKey }: S3, endpoint: URL) => ({
  ...{ MINIO_ENDPOINT: endpoint.href, MINIO_ACCESS_KEY: accessKey, MINIO_SECRET_KEY: secretKey },
});

async function inS3(): Promise<Storage> {
  const s3 = await startS3();
  const store = new MinioObjectStore({ ...s3, bucket: 'mintkeep' });
  return { variables: s3Variables(s3, s3.endpoint), store, stop: () => s3.stop() };
}

describe.each([
  ['files', inFiles, ({ DATA_DIR }: NodeJS.ProcessEnv) => `DATA_DIR ${DATA_DIR}`, 'objects/'],
  ['S3', inS3, () => 'MINIO_BUCKET mintkeep', ''],
] as const)('a store of bodies in %s', (_, makeStorage, nameOf, folder) => {
  let storage: Storage;
  let database: TestDatabase;
  let other: TestDatabase;

  beforeEach(async () => {
    storage = await makeStorage();
    [database, other] = [await createDatabase(), await createDatabase({ empty: true })];
  });
  afterEach(async () => {
    await Promise.all([database.drop(), other.drop()]);
    await storage.stop();
  });

  const start = (on = database) => startApp(storage.variables, { database: on });
  const claims = () => keysOf(storage.store, 'systems/');
  const removeClaims = async () => {
    for (const claim of await claims()) await storage.store.delete(claim);
  };

  /** Returns the error of a start that is rejected. */
  async function refusal(on: TestDatabase): Promise<string> {
    const { DATA_DIR = await temporaryFolder() } = storage.variables;
    const program = startProgram({ ...PRODUCTION, ...testVariables(on.url, DATA_DIR), ...storage.variables });
    expect(await program.exited).toEqual({ code: 1, signal: null });
    expect(program.stdout()).toBe('');
    return program.stderr();
  }

  it('belongs to the first system, which continues', async () => {
    const first = await start();
    await createDocument(first);
    const [claim] = await claims();
    expect(await refusal(other)).toBe(
      `${nameOf(storage.variables)} belongs to another system than the database (DATABASE_URL); ` +
        `if the two do belong together, delete ${folder}${claim} there\n`,
    );
    await expectDocument(first);
    await first.close();
    const again = await start();
    await expectDocument(again);
    expect(await claims()).toEqual([claim]);
    await again.close();
  });

  it('is used by another system outside production, with a warning and without a claim', async () => {
    await (await start()).close();
    const before = await claims();
    const { DATA_DIR = await temporaryFolder() } = storage.variables;
    const variables = { ...testVariables(other.url, DATA_DIR), ...storage.variables, LOG_LEVEL: 'warn' };
    const service = await serving(startProgram(variables));
    expect(service.stdout()).toContain('belongs to another system than the database (DATABASE_URL)');
    expect(await claims()).toEqual(before);
    await service.end('SIGTERM');
  });

  it('is claimed by a system with documents when it has no claim', async () => {
    const before = await start();
    await createDocument(before);
    await before.close();
    await removeClaims();

    expect(await refusal(other)).toBe(
      `${nameOf(storage.variables)} has documents, and the database (DATABASE_URL) never had any: ` +
        'they do not belong together\n',
    );
    expect(await claims()).toEqual([]);
    const after = await start();
    await expectDocument(after);
    await after.close();
    expect(await refusal(other)).toContain('belongs to another system');
  });

  it('is accepted with a restored database, and so is an empty store', async () => {
    const lost = await start();
    await createDocument(lost);
    await lost.close();
    const restored = await createDatabase(); // like a dump from before the first document: all copies are one system
    const app = await start(restored);
    await app.close();
    await restored.drop();

    await removeClaims();
    await storage.store.delete('documents/1');
    await (await start()).close();
    expect(await claims()).toHaveLength(1);
  });

  it('is claimed by replicas that start together', async () => {
    const apps = await inParallel(3, () => start(other));
    expect(await claims()).toHaveLength(1);
    await createDocument(apps[0]!);
    for (const app of apps) await expectDocument(app);
    await Promise.all(apps.map((app) => app.close()));
  });
});

it('is rejected with existing files when DATABASE_URL is missing', async () => {
  const [dataDir, database] = [await temporaryFolder(), await createDatabase()];
  const app = await startApp({}, { database, dataDir });
  await createDocument(app);
  await app.close();
  const { DATABASE_URL: _forgotten, ...variables } = testVariables(database.url, dataDir);
  const { exited, output } = startProgram({ ...PRODUCTION, ...variables });
  expect(await exited).toEqual({ code: 1, signal: null });
  expect(output()).toMatch(
    /^DATA_DIR \S+ belongs to another system than the database \(DATABASE_URL\)[^\n]*\n$/,
  );
  await database.drop();
});

describe('the claim of a store', () => {
  let s3: S3;
  let proxy: S3Proxy;
  let databases: TestDatabase[];

  beforeEach(async () => {
    s3 = await startS3();
    proxy = await startS3Proxy(s3.endpoint);
    databases = await inParallel(2, () => createDatabase({ empty: true }));
  });
  afterEach(async () => {
    await Promise.all(databases.map((database) => database.drop()));
    await proxy.stop();
    await s3.stop();
  });

  const isClaim = (method: string, key: string) => method === 'PUT' && /^systems\/[\da-f]{8}-/.test(key);
  const start = async ({ url }: TestDatabase): Promise<Program> =>
    startProgram({
      ...{ ...PRODUCTION, ...testVariables(url, await temporaryFolder()) },
      ...s3Variables(s3, proxy.endpoint),
    });

  it('does not let two systems start that find the store empty together', async () => {
    proxy.onRequest = (...request) => (isClaim(...request) ? 'hang' : 'pass');
    const variables = { ...PRODUCTION, ...s3Variables(s3, proxy.endpoint) };
    const starts = databases.map(async (database) => {
      const shared = { database, dataDir: await temporaryFolder() };
      return startApp(variables, shared, { storageTimeoutMs: 60_000 }); // the first one waits for the second one
    });
    const outcomes = Promise.allSettled(starts);
    await eventually(() => expect(proxy.waiting()).toBe(2));
    await proxy.recover();
    for (const outcome of await outcomes) {
      const message = expect.stringContaining('MINIO_BUCKET mintkeep belongs to another system');
      expect(outcome).toMatchObject({ status: 'rejected', reason: { message } });
    }
  });

  it('survives a short outage', async () => {
    let puts = 0;
    proxy.onRequest = (...request) => (isClaim(...request) && ++puts === 1 ? 'hang' : 'pass');
    const service = await serving(await start(databases[0]!));
    expect(puts).toBeGreaterThanOrEqual(2);
    await service.end('SIGTERM');
  });

  it('fails, and the start with it, after a long outage', async () => {
    proxy.onRequest = (...request) => (isClaim(...request) ? 'hang' : 'pass');
    const { exited, stderr } = await start(databases[0]!);
    expect(await exited).toEqual({ code: 1, signal: null });
    expect(stderr()).toMatch(
      /^mintkeep cannot start: MINIO_ENDPOINT: object storage: put systems\/\S+ failed: [^\n]+\n$/,
    );
  });
});
