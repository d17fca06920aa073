import { startApp, testVariables } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { createDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { inParallel } from '../support/parallel.js';
import { startProgram, temporaryFolder } from '../support/service.js';
import { startReplication } from '../support/standby.js';
import type { Replication } from '../support/standby.js';
import { startTcpProxy } from '../support/tcp-proxy.js';
import type { TcpProxy } from '../support/tcp-proxy.js';
import { record, usageRecord, written } from '../support/usage.js';

let replication: Replication;
/** Network in front of the standby. */
let network: TcpProxy;

beforeAll(async () => {
  replication = await startReplication(await temporaryFolder());
  network = await startTcpProxy(replication.standby.url);
});
afterAll(async () => {
  await network.stop();
  await replication.stop();
});

const start = (usageDatabaseUrl = network.url) =>
  startApp({ USAGE_DATABASE_URL: usageDatabaseUrl, ADMIN_TOKEN: 'admin' }, { database: replication.primary });

async function countOf(app: TestApp, user: string): Promise<number> {
  const agent = await app.as(user);
  const { body: sums } = await agent.get('/me/usage').expect(200);
  const { body: page } = await agent.get('/me/usage/requests').expect(200);
  expect(page.requests).toHaveLength(sums.totals.requests as number);
  return sums.totals.requests as number;
}

/** Adds a record of a user to the primary. */
async function addRecord(app: TestApp, user: string): Promise<void> {
  const [before] = await replication.primary.query<{ n: number }>(
    'SELECT count(*)::int AS n FROM usage_records',
  );
  await record(app, [usageRecord({ user_id: user })]);
  await written(replication.primary, before!.n + 1);
}

const replay = (command: 'pause' | 'resume') =>
  replication.standby.query(`SELECT pg_wal_replay_${command}()`);

async function isUp(app: TestApp): Promise<boolean> {
  const { text } = await app.anonymous.get('/metrics').set('Authorization', 'Bearer admin').expect(200);
  return /^mintkeep_usage_standby_up (\d)$/m.exec(text)![1] === '1';
}

it('queries usage on the standby, and writes to the primary', async () => {
  const app = await start();
  await addRecord(app, 'reader');
  await eventually(async () => expect(await countOf(app, 'reader')).toBe(1));
  await replay('pause');
  await addRecord(app, 'reader');
  expect(await countOf(app, 'reader')).toBe(1);
  await replay('resume');
  await eventually(async () => expect(await countOf(app, 'reader')).toBe(2));
  expect(await isUp(app)).toBe(true);
  await app.close();
});

it('queries the primary while the standby is away, and returns to it', async () => {
  const app = await start();
  await addRecord(app, 'patient');
  network.goAway();
  expect(await countOf(app, 'patient')).toBe(1);
  expect(await isUp(app)).toBe(false);
  network.comeBack(replication.standby.url);
  await eventually(async () => {
    await countOf(app, 'patient');
    expect(await isUp(app)).toBe(true);
  });
  await app.close();
});

it('starts while the standby is away', async () => {
  network.goAway();
  const app = await start();
  await addRecord(app, 'early');
  expect(await countOf(app, 'early')).toBe(1);
  network.comeBack(replication.standby.url);
  await app.close();
});

it('does not give up a query that a replayed change cancels', async () => {
  const app = await start();
  await addRecord(app, 'conflicting');
  await eventually(async () => expect(await countOf(app, 'conflicting')).toBe(1));
  await replication.standby.query(`ALTER SYSTEM SET max_standby_streaming_delay = 0`);
  await replication.standby.query('SELECT pg_reload_conf()');
  const counts: number[] = [];
  // Few at a time, because one of 50 would wait in the queue of its user for up to 10 s.
  const queries = inParallel(10, async () => {
    for (let i = 0; i < 5; i++) counts.push(await countOf(app, 'conflicting'));
  });
  for (let i = 0; i < 20; i++) {
    await replication.primary.query('BEGIN; LOCK TABLE usage_records IN ACCESS EXCLUSIVE MODE; COMMIT');
  }
  await queries;
  expect(new Set(counts)).toEqual(new Set([1]));
  expect(await isUp(app)).toBe(true);
  await replication.standby.query('ALTER SYSTEM RESET max_standby_streaming_delay');
  await replication.standby.query('SELECT pg_reload_conf()');
  await app.close();
});

it('does not start with a database of another system', async () => {
  const [own, other] = await Promise.all([createDatabase(), createDatabase({ empty: true })]);
  const first = await startApp({}, { database: other }); // becomes a system of its own
  await first.close();
  const variables = testVariables(own.url, await temporaryFolder());
  const program = startProgram({ ...variables, USAGE_DATABASE_URL: other.url });
  expect(await program.exited).toMatchObject({ code: 1 });
  expect(program.stderr()).toBe(
    'USAGE_DATABASE_URL names a database of another system: name a standby of DATABASE_URL\n',
  );
  await Promise.all([own.drop(), other.drop()]);
});
