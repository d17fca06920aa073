import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createDatabase } from '../support/database.js';
import { freePort } from '../support/free-port.js';
import { startS3Proxy } from '../support/s3-proxy.js';
import type { S3Proxy } from '../support/s3-proxy.js';
import { startS3 } from '../support/s3.js';
import type { S3 } from '../support/s3.js';
import { serving, startProgram, temporaryFolder } from '../support/service.js';
import type { Service } from '../support/service.js';

async function signIn(url: string): Promise<string> {
  const response = await fetch(`${url}/dev/sign-in`, {
    method: 'POST',
    body: '{"email": "ada@example.com"}',
  });
  return ((await response.json()) as { token: string }).token;
}

/** Stack trace, also within JSON. */
const STACK = /\\n\s+at |\n\s+at |"stack"/;

/** Starts the service with a database that ends the start at once. @returns standard error */
async function errorOfRejected(databaseUrl: string): Promise<string> {
  const { stdout, stderr, exited } = startProgram({
    DATABASE_URL: databaseUrl,
    DATA_DIR: await temporaryFolder(),
    ENCRYPTION_KEYS: Buffer.alloc(32).toString('base64'),
    LOG_LEVEL: 'info',
  });
  expect(await exited).toEqual({ code: 1, signal: null });
  expect(stdout()).not.toContain('Retrying');
  expect(stdout()).not.toMatch(STACK);
  return stderr();
}

it('prints one line for each wrong setting, and exits with 1', async () => {
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

it('reports an unreachable database without a stack trace', async () => {
  const { stderr, exited } = startProgram({
    DATABASE_URL: 'postgres://127.0.0.1:1/none',
    DATA_DIR: await temporaryFolder(),
    ENCRYPTION_KEYS: Buffer.alloc(32).toString('base64'),
    LOG_LEVEL: 'silent',
  });
  expect(await exited).toEqual({ code: 1, signal: null });
  expect(stderr()).toMatch(/^mintkeep cannot start: the database \(DATABASE_URL\): .*ECONNREFUSED/);
  expect(stderr()).not.toContain('    at ');
});

it.each<[string, (url: URL) => void, RegExp]>([
  [
    'password',
    (url) => (url.password = 'wrong-password'),
    /^DATABASE_URL is rejected: password authentication failed for user "\w+"; correct the user and the password\n$/,
  ],
  [
    'user',
    (url) => (url.username = 'nobody_here'),
    /^DATABASE_URL is rejected: password authentication failed for user "nobody_here"; correct the user/,
  ],
  [
    'database',
    (url) => (url.pathname = '/missing'),
    /^DATABASE_URL is rejected: database "missing" does not exist; create the database, or correct its name\n$/,
  ],
])('reports a wrong %s of DATABASE_URL at once, in one line', async (_what, change, message) => {
  const database = await createDatabase();
  const url = new URL(database.url);
  change(url);
  const stderr = await errorOfRejected(url.href);
  expect(stderr).toMatch(message);
  expect(stderr).not.toContain('wrong-password');
  await database.drop();
});

it('reports an unusable database at once, in one line', async () => {
  const database = await createDatabase({ empty: true, encoding: 'LATIN1' });
  const stderr = await errorOfRejected(database.url);
  expect(stderr).toBe('DATABASE_URL names a database whose encoding is LATIN1: UTF8 is needed\n');
  await database.drop();
});

describe('an address that cannot be bound', () => {
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
  ])('is reported by the name of %s, and leaves nothing running', async (_, address, message) => {
    const dataDir = await temporaryFolder();
    const { stderr, exited } = startProgram({ DATA_DIR: dataDir, ...address() });
    expect(await exited).toEqual({ code: 1, signal: null });
    expect(stderr().startsWith(message())).toBe(true);
    await (await serving(startProgram({ DATA_DIR: dataDir }))).end('SIGTERM');
  });
});

describe('object storage that rejects', () => {
  let s3: S3;
  let proxy: S3Proxy;
  beforeAll(async () => {
    s3 = await startS3();
    proxy = await startS3Proxy(s3.endpoint);
  });
  afterAll(async () => {
    await proxy.stop();
    await s3.stop();
  });

  async function failedStart(variables: NodeJS.ProcessEnv = {}): Promise<string> {
    const { stdout, stderr, exited } = startProgram({
      DATA_DIR: await temporaryFolder(),
      ...{
        MINIO_ENDPOINT: proxy.endpoint.href,
        MINIO_ACCESS_KEY: s3.accessKey,
        MINIO_SECRET_KEY: s3.secretKey,
      },
      ...variables,
    });
    expect(await exited).toEqual({ code: 1, signal: null });
    expect(stdout()).not.toMatch(STACK);
    return stderr();
  }

  it.each<[string, NodeJS.ProcessEnv, S3Proxy['onRequest']]>([
    ['the secret key', {}, () => 'deny'],
    ['the access key', { MINIO_ACCESS_KEY: 'wrong-access-key' }, () => 'pass'],
    ['writing', {}, (method, key) => (method === 'PUT' && key !== '' ? 'deny' : 'pass')],
    [
      'writing, with an unknown code,',
      {},
      (method, key) => (method === 'PUT' && key !== '' ? 'deny with another code' : 'pass'),
    ],
    [
      'writing, with a page,',
      {},
      (method, key) => (method === 'PUT' && key !== '' ? 'deny with a page' : 'pass'),
    ],
    ['reading the bucket, with a page,', {}, () => 'deny with a page'],
    ['deleting', {}, (method) => (method === 'DELETE' ? 'deny' : 'pass')],
    ['listing', {}, (method, key) => (method === 'GET' && key === '' ? 'deny' : 'pass')],
  ])(
    '%s ends the start at once, with one line that names the settings',
    async (_what, variables, onRequest) => {
      proxy.onRequest = onRequest;
      const line = await failedStart(variables);
      expect(line).toMatch(/^MINIO_ACCESS_KEY, MINIO_SECRET_KEY: the object storage rejects [^\n]+\n$/);
      expect(line).not.toContain('wrong-');
    },
  );
});

it('waits for object storage that starts later', async () => {
  const port = await freePort();
  const early = createServer((socket) => socket.destroy()).listen(port, '127.0.0.1');
  await once(early, 'listening');
  const program = startProgram({
    DATA_DIR: await temporaryFolder(),
    MINIO_ENDPOINT: `http://127.0.0.1:${port}`,
    MINIO_ACCESS_KEY: 'S3RVER',
    MINIO_SECRET_KEY: 'S3RVER',
  });
  await once(early, 'connection');
  await promisify(early.close.bind(early))();
  const s3 = await startS3({ port });
  const service = await serving(program);
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  await service.end('SIGTERM');
  await s3.stop();
});

describe('the service without any settings', () => {
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
  });
  afterAll(() => service?.end('SIGTERM'));

  it('prints the data folder and the sign-in page', () => {
    expect(service.stdout()).toContain(dataDir);
    expect(service.stdout()).toContain('/dev/sign-in');
  });

  it('writes only JSON lines to standard output that is not a terminal', () => {
    const lines = service.stdout().trimEnd().split('\n');
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ level: expect.any(Number) });
    expect(lines.some((line) => JSON.parse(line).msg === 'mintkeep is running')).toBe(true);
  });

  it('rejects a second start on the same folder, and keeps running', async () => {
    const second = start();
    expect(await second.exited).toEqual({ code: 1, signal: null });
    expect(second.stderr()).toContain(`another mintkeep is running on the data folder ${dataDir}`);
    expect(await content()).toBe('# Kept');
  });

  it.each([
    ['killed', 'SIGKILL', { code: null, signal: 'SIGKILL' }],
    ['stopped from the keyboard', 'SIGINT', { code: 0, signal: null }],
  ] as const)('keeps its data when it is %s', async (_, signal, exit) => {
    expect(await service.end(signal)).toEqual(exit);
    service = await serving(start());
    expect(await content()).toBe('# Kept');
  });

  it('exits with 1 and one line when its PostgreSQL ends', async () => {
    const lockFile = await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8');
    process.kill(Number(lockFile.split('\n')[0]), 'SIGKILL');
    expect(await service.exited).toEqual({ code: 1, signal: null });
    const log = join(dataDir, 'postgres.log');
    const line = `mintkeep stops because the embedded PostgreSQL ended by SIGKILL: see ${log}\n`;
    expect(service.stderr()).toBe(line);
    service = await serving(start());
    expect(await content()).toBe('# Kept');
  });
});
