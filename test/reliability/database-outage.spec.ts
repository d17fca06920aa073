import { startEmbeddedPostgres } from '../../src/embedded-postgres/embedded-postgres.js';
import { Caretaker } from '../support/caretaker.js';
import { createDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { inParallel } from '../support/parallel.js';
import { startService, temporaryFolder } from '../support/service.js';
import type { Service } from '../support/service.js';
import { startTcpProxy } from '../support/tcp-proxy.js';
import { Writer } from '../support/writer.js';

const WRITERS = 8;
const TERMINATIONS = 20;
const POOL_SIZE = 20;

const ready = (service: Service) => eventually(() => service.anonymous.get('/readyz').expect(200));

async function makeWriters(service: Service): Promise<Writer[]> {
  const writers = Array.from({ length: WRITERS }, (_, index) => new Writer(`writer-${index}`));
  await Promise.all(writers.map((writer) => writer.connect(service)));
  return writers;
}

const sum = (numbers: number[]) => numbers.reduce((a, b) => a + b, 0);

/** Ends the writing, after a failure as well. */
let over: boolean;
beforeEach(() => {
  over = false;
});
afterEach(() => {
  over = true;
});

describe('a database that ends connections under load', () => {
  let database: TestDatabase;
  let dataDir: string;
  let service: Service;

  beforeAll(async () => {
    [database, dataDir] = await Promise.all([createDatabase(), temporaryFolder()]);
    service = await startService(database.url, dataDir, { PGAPPNAME: 'service' });
  });
  afterAll(async () => {
    await service.end('SIGTERM');
    await database.drop();
  });

  const connections = (condition: string) =>
    database.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'service' AND ${condition}`,
    );

  it('causes at most plain 500 responses, and loses no acknowledged write', async () => {
    const writers = await makeWriters(service);
    const failed = () => sum(writers.map((writer) => writer.failed));
    const work = writers.map((writer) => writer.writeWhile(() => !over));
    // On a busy machine many connections are idle when they end, which no request notices.
    for (let i = 0; i < TERMINATIONS || failed() <= TERMINATIONS / 2; i++) {
      const before = sum(writers.map(({ acknowledged }) => acknowledged));
      await database.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid()`,
      );
      // The service recovers by itself: the next round begins when requests succeed again.
      await eventually(() =>
        expect(sum(writers.map(({ acknowledged }) => acknowledged))).toBeGreaterThan(before + WRITERS),
      );
    }
    over = true;
    await Promise.all(work);

    await ready(service);
    await Promise.all(writers.map((writer) => writer.verify()));
    const caretaker = await Caretaker.start(database, dataDir);
    await caretaker.expectNothingLeftBehind();
    await caretaker.close();
    await Promise.all(writers.map((writer) => writer.verify()));
  });

  it('leaves no transaction open, nothing locked and the whole pool in use', async () => {
    const agent = await service.as('writer-0');
    await inParallel(3 * POOL_SIZE, () => agent.get('/me/projects').expect(200));
    // A job may be at work for a moment.
    await eventually(async () => expect(await connections(`state <> 'idle'`)).toEqual([]));
    expect((await connections('true')).length).toBeLessThanOrEqual(POOL_SIZE);
    const isLocking = `pid IN (SELECT pid FROM pg_locks WHERE locktype = 'advisory')`;
    await eventually(async () => expect(await connections(isLocking)).toEqual([]));
  });
});

async function missed(service: Service): Promise<void> {
  const { body } = await service.anonymous.get('/readyz').expect(503);
  expect(body).toEqual({ status: 'unavailable', checks: { database: 'failed', object_storage: 'ok' } });
}

describe('a read-only database', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createDatabase();
  });
  afterEach(() => database.drop());

  it('fails the readiness check, and is used again when it accepts writes', async () => {
    const service = await startService(database.url, await temporaryFolder());
    const agent = await service.as('writer');
    const read = () => agent.get('/me/projects').expect(200);
    const write = (name: string) => agent.post('/me/projects').send({ name });
    const databaseName = new URL(database.url).pathname.slice(1);
    const alter = (how: string) => `BEGIN READ WRITE; ALTER DATABASE ${databaseName} ${how}; COMMIT`;
    await write('before').expect(201);
    await database.query(alter('SET default_transaction_read_only = on'));
    await database.rejectConnections();
    await database.acceptConnections();
    await eventually(read);
    for (let i = 0; i < 3; i++) await missed(service);
    await write('meanwhile').expect(500);
    await read();
    await database.query(alter('RESET default_transaction_read_only'));
    await ready(service);
    await eventually(() => write('after').expect(201));
    await service.end('SIGTERM');
  });

  it('is rejected if it is a standby', async () => {
    let isStandby = false;
    const inRecovery = (text: string) => text.replace(/(?<=standby\0.{18}D.{10})f/s, 't'); // the one value of the one row
    const ofResponses = (text: string) => (isStandby ? inRecovery(text) : text);
    const proxy = await startTcpProxy(database.url, { ofResponses });
    const service = await startService(proxy.url, await temporaryFolder());
    const agent = await service.as('reader');
    await agent.get('/me/projects').expect(200);
    isStandby = true;
    proxy.goAway();
    proxy.comeBack(database.url);
    for (let i = 0; i < 3; i++) await missed(service);
    await agent.get('/me/projects').expect(500);
    isStandby = false;
    await ready(service);
    await agent.get('/me/projects').expect(200);
    await service.end('SIGTERM');
    await proxy.stop();
  });
});

describe('a restart of PostgreSQL', () => {
  const settings = { fsync: 'off' };

  it('fails the readiness check, and the database is used again when it is back', async () => {
    const [folder, dataDir] = await Promise.all([temporaryFolder(), temporaryFolder()]);
    let postgres = await startEmbeddedPostgres({ dataDir: folder, settings });
    const proxy = await startTcpProxy(postgres.url);
    const service = await startService(proxy.url, dataDir);
    const writers = await makeWriters(service);
    const work = writers.map((writer) => writer.writeWhile(() => !over));
    await eventually(() => writers.forEach(({ acknowledged }) => expect(acknowledged).toBeGreaterThan(3)));

    await postgres.stop();
    proxy.goAway();
    await eventually(() => missed(service));
    await service.anonymous.get('/healthz').expect(200);
    const failed = sum(writers.map((writer) => writer.failed));
    await eventually(() => expect(sum(writers.map((writer) => writer.failed))).toBeGreaterThan(failed));

    postgres = await startEmbeddedPostgres({ dataDir: folder, settings });
    proxy.comeBack(postgres.url);
    await ready(service);
    const acknowledged = sum(writers.map((writer) => writer.acknowledged));
    await eventually(() =>
      expect(sum(writers.map((writer) => writer.acknowledged))).toBeGreaterThan(acknowledged + 3 * WRITERS),
    );
    over = true;
    await Promise.all(work);
    await Promise.all(writers.map((writer) => writer.verify()));
    expect(await service.end('SIGTERM')).toEqual({ code: 0, signal: null });
    await proxy.stop();
    await postgres.stop();
  });
});
