import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
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
import type { Program, Service } from '../support/service.js';

async function signIn(url: string): Promise<string> {
  const response = await fetch(`${url}/dev/sign-in`, {
    method: 'POST',
    body: '{"email": "ada@example.com"}',
  });
  return ((await response.json()) as { token: string }).token;
}

it('says what is wrong with the settings, one line each, and exits with 1', async () => {
  const { stdout, stderr, exited } = startProgram({
    PORT: 'x',
    NODE_ENV: 'production',
    ENCRYPTION_KEYS: 'y',
  });
  expect(await exited).toEqual({ code: 1, signal: null });
  expect(stdout()).toBe('');
  const lines = stderr().trimEnd().split('\n');
  expect(lines.map((line) => line.split(' ')[0]).sort()).toEqual([
    'ENCRYPTION_KEYS',
    'PORT',
    'SESSION_JWKS_URL',
  ]);
});

it('says so when the database cannot be reached, without a stack', async () => {
  const { stderr, exited } = startProgram({
    DATABASE_URL: 'postgres://127.0.0.1:1/none',
    DATA_DIR: await temporaryFolder(),
    ENCRYPTION_KEYS: Buffer.alloc(32).toString('base64'),
    LOG_LEVEL: 'silent',
  });
  expect(await exited).toEqual({ code: 1, signal: null });
  expect(stderr()).toMatch(/^mintkeep cannot start: the database \(DATABASE_URL\): .*ECONNREFUSED/);
  expect(stderr()).not.toContain('    at ');
}, 60_000);

it('says at once, in one line, when the database is none to use', async () => {
  const database = await createDatabase({ empty: true, encoding: 'LATIN1' });
  const { stdout, stderr, exited } = startProgram({
    DATABASE_URL: database.url,
    DATA_DIR: await temporaryFolder(),
    ENCRYPTION_KEYS: Buffer.alloc(32).toString('base64'),
    LOG_LEVEL: 'error',
  });
  expect(await exited).toEqual({ code: 1, signal: null });
  expect(stderr()).toBe('DATABASE_URL names a database whose encoding is LATIN1: UTF8 is needed\n');
  expect(stdout()).not.toContain('Retrying');
  await database.drop();
}, 60_000);

describe('an address that cannot be had', () => {
  const taken = createServer();
  let port: number;

  beforeAll(async () => {
    await once(taken.listen(0, '127.0.0.1'), 'listening');
    ({ port } = taken.address() as AddressInfo);
  });
  afterAll(() => taken.close());

  it.each<[string, () => NodeJS.ProcessEnv, () => string]>([
    ['PORT', () => ({ PORT: String(port) }), () => `PORT ${port} is in use\n`],
    [
      'HOST',
      () => ({ HOST: '192.0.2.1', SESSION_JWT_SECRET: 's'.repeat(32) }),
      () => 'HOST 192.0.2.1 is not an address of this machine: ',
    ],
  ])(
    'is told of by %s, and nothing is left running',
    async (_, address, told) => {
      const dataDir = await temporaryFolder();
      const { stderr, exited } = startProgram({ DATA_DIR: dataDir, ...address() });
      expect(await exited).toEqual({ code: 1, signal: null });
      expect(stderr().startsWith(told())).toBe(true);
      await (await serving(startProgram({ DATA_DIR: dataDir }))).end('SIGTERM');
    },
    60_000,
  );
});

it('waits for object storage that is not there yet', async () => {
  const early = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  await once(early, 'listening');
  const { port } = early.address() as AddressInfo;
  const program = startProgram({
    ...{ DATA_DIR: await temporaryFolder(), MINIO_ENDPOINT: `http://127.0.0.1:${port}` },
    ...{ MINIO_ACCESS_KEY: 'S3RVER', MINIO_SECRET_KEY: 'S3RVER' },
  });
  await once(early, 'connection');
  await promisify(early.close.bind(early))();
  const s3 = await startS3({ port });
  const service = await serving(program);
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  await service.end('SIGTERM');
  await s3.stop();
}, 60_000);

const PRODUCTION = { NODE_ENV: 'production', HOST: '127.0.0.1' };

/** Makes the first document of a database. */
async function createDocument(app: TestApp): Promise<void> {
  const anna = await app.as('anna');
  await anna.post('/me/projects').send({ name: 'Handbook' }).expect(201);
  const document = { title: 't', slug: 's', content: `of ${app.database.url}` };
  await anna.post('/me/projects/1/documents').send(document).expect(201);
}

/** Its body is what this database knows of. */
async function expectDocument(app: TestApp): Promise<void> {
  const { body } = await (await app.as('anna')).get('/me/projects/1/documents/1').expect(200);
  expect(body.content).toBe(`of ${app.database.url}`);
}

/** Where bodies are kept, apart from any service. */
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

  /** What is told when the start on the database is refused. */
  async function refusal(on: TestDatabase): Promise<string> {
    const { DATA_DIR = await temporaryFolder() } = storage.variables;
    const program = startProgram({ ...PRODUCTION, ...testVariables(on.url, DATA_DIR), ...storage.variables });
    expect(await program.exited).toEqual({ code: 1, signal: null });
    expect(program.stdout()).toBe('');
    return program.stderr();
  }

  it('belongs to the system that came first, which goes on', async () => {
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
  }, 60_000);

  it('is used by another system outside of production, which says so and does not claim it', async () => {
    await (await start()).close();
    const before = await claims();
    const { DATA_DIR = await temporaryFolder() } = storage.variables;
    const variables = { ...testVariables(other.url, DATA_DIR), ...storage.variables, LOG_LEVEL: 'warn' };
    const service = await serving(startProgram(variables));
    expect(service.stdout()).toContain('belongs to another system than the database (DATABASE_URL)');
    expect(await claims()).toEqual(before);
    await service.end('SIGTERM');
  }, 60_000);

  it('is claimed by a system that was there before claims were', async () => {
    const before = await start();
    await createDocument(before);
    await before.close();
    await removeClaims();
    await database.query('DROP TABLE system_identity');
    await database.query(`DELETE FROM migrations WHERE name LIKE 'SystemIdentity%'`);

    expect(await refusal(other)).toBe(
      `${nameOf(storage.variables)} has documents, and the database (DATABASE_URL) never had any: ` +
        'they do not belong together\n',
    );
    expect(await claims()).toEqual([]);
    const after = await start();
    await expectDocument(after);
    await after.close();
    expect(await refusal(other)).toContain('belongs to another system');
  }, 60_000);

  it('is used again with a database that was restored, and so is an empty one', async () => {
    const lost = await start();
    await createDocument(lost);
    await lost.close();
    const restored = await createDatabase(); // as of a dump from before the first document: all copies are one system
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

it('is refused on files of old when DATABASE_URL is forgotten', async () => {
  const [dataDir, database] = [await temporaryFolder(), await createDatabase()];
  const app = await startApp({ DATA_DIR: dataDir }, { database });
  await createDocument(app);
  await app.close();
  const { DATABASE_URL: _forgotten, ...variables } = testVariables(database.url, dataDir);
  const { exited, output } = startProgram({ ...PRODUCTION, ...variables });
  expect(await exited).toEqual({ code: 1, signal: null });
  expect(output()).toMatch(
    /^DATA_DIR \S+ belongs to another system than the database \(DATABASE_URL\)[^\n]*\n$/,
  );
  await database.drop();
}, 60_000);

describe('while a store is claimed', () => {
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

  const isClaim = (method: string, key: string) => method === 'PUT' && key.startsWith('systems/');
  const start = async ({ url }: TestDatabase): Promise<Program> =>
    startProgram({
      ...{ ...PRODUCTION, ...testVariables(url, await temporaryFolder()) },
      ...s3Variables(s3, proxy.endpoint),
    });

  it('two systems that found it empty do not both start', async () => {
    proxy.onRequest = (...request) => (isClaim(...request) ? 'hang' : 'pass');
    const programs = await Promise.all(databases.map(start));
    await eventually(() => expect(proxy.waiting()).toBe(2), 30_000);
    await proxy.recover();
    for (const { exited, stderr } of programs) {
      expect(await exited).toEqual({ code: 1, signal: null });
      expect(stderr()).toContain('MINIO_BUCKET mintkeep belongs to another system');
    }
  }, 60_000);

  it('it may be away for a moment', async () => {
    let puts = 0;
    proxy.onRequest = (...request) => (isClaim(...request) && ++puts === 1 ? 'hang' : 'pass');
    const service = await serving(await start(databases[0]!));
    expect(puts).toBe(2);
    await service.end('SIGTERM');
  }, 60_000);

  it('it may not be away for long', async () => {
    proxy.onRequest = (...request) => (isClaim(...request) ? 'hang' : 'pass');
    const { exited, stderr } = await start(databases[0]!);
    expect(await exited).toEqual({ code: 1, signal: null });
    expect(stderr()).toMatch(
      /^mintkeep cannot start: MINIO_ENDPOINT: object storage: put systems\/\S+ failed: [^\n]+\n$/,
    );
  }, 60_000);
});

describe('with nothing set', () => {
  let dataDir: string;
  let service: Service;
  let headers: { authorization: string };
  const start = () => startProgram({ DATA_DIR: dataDir });
  const content = async () => {
    const response = await fetch(`${service.url}/me/projects/1/documents/1`, { headers });
    return ((await response.json()) as { content: string }).content;
  };

  beforeAll(async () => {
    dataDir = await temporaryFolder();
    service = await serving(start());
    headers = { authorization: `Bearer ${await signIn(service.url)}` };
    const post = (path: string, body: object) =>
      fetch(`${service.url}/me/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    await post('projects', { name: 'Handbook' });
    await post('projects/1/documents', { title: 't', slug: 's', content: '# Kept' });
  }, 90_000);
  afterAll(() => service?.end('SIGTERM'));

  it('says where it keeps what, and where to sign in', () => {
    expect(service.stdout()).toContain(dataDir);
    expect(service.stdout()).toContain('/dev/sign-in');
  });

  it('writes nothing but JSON lines to standard output where that is no terminal', () => {
    const lines = service.stdout().trimEnd().split('\n');
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ level: expect.any(Number) });
    expect(lines.some((line) => JSON.parse(line).msg === 'mintkeep is running')).toBe(true);
  });

  it('refuses a second start on the same folder, and is not disturbed by it', async () => {
    const second = start();
    expect(await second.exited).toEqual({ code: 1, signal: null });
    expect(second.stderr()).toContain(`another mintkeep is running on the data folder ${dataDir}`);
    expect(await content()).toBe('# Kept');
  }, 60_000);

  it.each([
    ['killed', 'SIGKILL', { code: null, signal: 'SIGKILL' }],
    ['stopped from the keyboard', 'SIGINT', { code: 0, signal: null }],
  ] as const)(
    'keeps what is stored when it is %s',
    async (_, signal, exit) => {
      expect(await service.end(signal)).toEqual(exit);
      service = await serving(start());
      expect(await content()).toBe('# Kept');
    },
    60_000,
  );
});
