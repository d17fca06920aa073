import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get, request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type pg from 'pg';
import { testVariables } from '../support/app.js';
import { connect as connectTo, createDatabase, lockedOut } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { startS3Proxy } from '../support/s3-proxy.js';
import type { S3Proxy } from '../support/s3-proxy.js';
import { startS3 } from '../support/s3.js';
import type { S3 } from '../support/s3.js';
import { sessionFor } from '../support/sessions.js';
import { startProgram, startService, temporaryFolder } from '../support/service.js';
import type { Service } from '../support/service.js';

/** Less than the 30 s after which a shutdown closes connections that are still open. */
const PROMPT_MS = 25_000;
/** Less than the 10 s after which a shutdown closes connections that a load balancer keeps. */
const PROMPT_BEHIND_BALANCER_MS = 9_000;
const MAX_ATTEMPTS = 3;

let s3: S3;
let proxy: S3Proxy;
let database: TestDatabase;
let service: Service;

beforeEach(async () => {
  s3 = await startS3();
  proxy = await startS3Proxy(s3.endpoint);
  database = await createDatabase();
  service = await start();
});
afterEach(async () => {
  await service.end('SIGKILL');
  await database.drop();
  await proxy.stop();
  await s3.stop();
});

async function start(variables: NodeJS.ProcessEnv = {}): Promise<Service> {
  return startService(database.url, await temporaryFolder(), {
    MINIO_ENDPOINT: proxy.endpoint.href,
    MINIO_ACCESS_KEY: s3.accessKey,
    MINIO_SECRET_KEY: s3.secretKey,
    ...variables,
  });
}

/** Replaces the service of the test by one with other settings. */
async function restart(variables: NodeJS.ProcessEnv): Promise<void> {
  await service.end('SIGKILL');
  service = await start(variables);
}

/** Holds up requests to projects and documents until the connection ends. */
async function lockTables(): Promise<pg.Client> {
  const other = await connectTo(database);
  await other.query('BEGIN; LOCK TABLE projects, documents');
  return other;
}

async function connecting(): Promise<void> {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  await once(socket, 'connect').finally(() => socket.destroy());
}

it.each(['SIGTERM', 'SIGINT'] as const)(
  'completes what runs after %s, accepts nothing new and ends with exit code 0',
  async (signal) => {
    const agent = await service.as('anna');
    const { body: project } = await agent.post('/me/projects').send({ name: 'Handbook' }).expect(201);
    const documents = `/me/projects/${project.id}/documents`;
    const old = { title: 'Old', slug: 'old', content: 'old' };
    const { body: document } = await agent.post(documents).send(old).expect(201);

    // A lock, because a call to object storage fails after 5 s. The calls follow when the lock is released.
    const other = await lockTables();
    const change = { title: 'New', slug: 'new', content: 'new' };
    const running = Promise.all([
      agent.put(`${documents}/${document.id}`).send(change),
      agent.post(documents).send({ ...change, slug: 'made' }),
      agent.get(`${documents}/${document.id}`),
    ]);
    running.catch(() => undefined);
    await lockedOut(database, 3);
    const asked = performance.now();
    const exit = service.end(signal);
    await eventually(() => expect(connecting()).rejects.toMatchObject({ code: 'ECONNREFUSED' }));

    await other.end();
    const [updated, created, read] = await running;
    expect([updated.status, created.status, read.status]).toEqual([200, 201, 200]);
    expect(updated.body).toMatchObject(change);
    expect(await exit).toEqual({ code: 0, signal: null });
    expect(performance.now() - asked).toBeLessThan(PROMPT_MS);
    expect(await database.query('SELECT title FROM documents ORDER BY id')).toEqual([
      { title: 'New' },
      { title: 'New' },
    ]);
  },
);

it('does not wait for idle connections, or for connections without a request', async () => {
  const { port } = new URL(service.url);
  const early = connect(Number(port), '127.0.0.1');
  await once(early.resume(), 'connect');
  const agent = new Agent({ keepAlive: true });
  const fetch = async (path: string) => {
    const headers = { authorization: `Bearer ${await sessionFor('anna')}` };
    const [response] = (await once(get({ port, path, agent, headers }), 'response')) as [IncomingMessage];
    await text(response);
    return response;
  };
  expect((await fetch('/me/projects')).headers.connection).toBe('keep-alive');
  const other = await lockTables();
  const running = fetch('/me/projects');
  await lockedOut(database, 1);
  const asked = performance.now();
  const exit = service.end('SIGTERM');
  await once(early, 'close'); // while a request still runs
  await eventually(() => expect(connecting()).rejects.toMatchObject({ code: 'ECONNREFUSED' }));
  await other.end();
  expect((await running).headers.connection).toBe('close');
  expect(await exit).toEqual({ code: 0, signal: null });
  expect(performance.now() - asked).toBeLessThan(PROMPT_MS);
  agent.destroy();
});

it('ends at once without open requests', async () => {
  const start = performance.now();
  expect(await service.end('SIGTERM')).toEqual({ code: 0, signal: null });
  expect(performance.now() - start).toBeLessThan(PROMPT_MS);
});

it('reports that it is not ready, and accepts requests until load balancers notice', async () => {
  await restart({ SHUTDOWN_DELAY_MS: '300000' });
  const anna = await service.as('anna');
  void service.end('SIGTERM');
  const { body } = await eventually(() => service.anonymous.get('/readyz').expect(503));
  expect(body.status).toBe('shutting down');
  await anna.post('/me/projects').send({ name: 'Late' }).expect(201);

  await restart({ SHUTDOWN_DELAY_MS: '1500' });
  const asked = performance.now();
  expect(await service.end('SIGTERM')).toEqual({ code: 0, signal: null });
  expect(performance.now() - asked).toBeGreaterThan(1_490); // a timer may be early
});

describe('connections of a load balancer', () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const post = async (path = '/me/keys') => {
    const { port } = new URL(service.url);
    const headers = { authorization: `Bearer ${await sessionFor('anna')}`, 'content-length': '0' };
    const sent = request({ method: 'POST', port, path, agent, headers }).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    await text(response);
    return {
      status: response.statusCode,
      connection: response.headers.connection,
      reused: sent.reusedSocket,
    };
  };
  afterEach(() => agent.destroy());

  it.each([
    ['the API', '/me/keys', 201],
    ['the proxy', '/v1/chat/completions', 401],
  ])('stay open for the load balancer to close, and serve requests %s', async (_, path, status) => {
    let tookMs = Infinity;
    // After a pause of the machine again: a service that waits for its timeout does so each time.
    for (let i = 0; i < MAX_ATTEMPTS && tookMs > PROMPT_BEHIND_BALANCER_MS; i++) {
      await restart({ TRUST_PROXY: '127.0.0.1' });
      expect(await post(path)).toEqual({ status, connection: 'keep-alive', reused: false });
      const asked = performance.now();
      const exit = service.end('SIGTERM');
      await eventually(() => expect(connecting()).rejects.toMatchObject({ code: 'ECONNREFUSED' }));
      expect(await post(path)).toEqual({ status, connection: 'close', reused: true });
      expect(await exit).toEqual({ code: 0, signal: null });
      tookMs = performance.now() - asked;
    }
    expect(tookMs).toBeLessThan(PROMPT_BEHIND_BALANCER_MS);
  });

  it('are closed by the load balancer or, after a timeout, by the service', async () => {
    await restart({ TRUST_PROXY: '127.0.0.1' });
    await post();
    const asked = performance.now();
    expect(await service.end('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(performance.now() - asked).toBeGreaterThan(9_000);
  });
});

it('exits with 0 while it starts', async () => {
  await service.end('SIGKILL');
  const other = await connectTo(database);
  await other.query('SELECT pg_advisory_lock(-7461001)'); // like a replica that migrates
  const variables = testVariables(database.url, await temporaryFolder());
  const starting = startProgram(variables);
  await lockedOut(database, 1);
  expect(await starting.end('SIGTERM')).toEqual({ code: 0, signal: null });
  await other.end();
});

it('runs on without a writable log, and exits with 0', async () => {
  await service.end('SIGKILL');
  const port = await freePort();
  const env = {
    ...testVariables(database.url, await temporaryFolder()),
    LOG_LEVEL: 'info',
    PORT: String(port),
  };
  const program = spawn('sh', ['-c', `exec "${process.execPath}" dist/main.js > /dev/full`], {
    env: { PATH: process.env.PATH, ...env },
  });
  const url = `http://127.0.0.1:${port}`;
  await eventually(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200), 60_000);
  for (let i = 0; i < 300; i++) await fetch(`${url}/me/projects`);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  program.kill('SIGTERM');
  expect(await once(program, 'exit')).toEqual([0, null]);
});
