import { readFileSync } from 'node:fs';
import { jest } from '@jest/globals';
import { SchedulerRegistry } from '@nestjs/schedule';
import { DataSource } from 'typeorm';
import { startApp } from '../../test/support/app.js';
import type { TestApp } from '../../test/support/app.js';
import { connect } from '../../test/support/database.js';
import { eventually } from '../../test/support/eventually.js';
import { readMetrics } from '../../test/support/metrics.js';
import { inParallel } from '../../test/support/parallel.js';
import { Jobs } from './jobs.js';
import type { Job } from './jobs.js';

let replicas: TestApp[];
/** Jobs of the service itself. */
let shipped: Job[];
let names = 0;

beforeAll(async () => {
  const added = jest.spyOn(Jobs.prototype, 'add');
  const first = await startApp();
  shipped = added.mock.calls.map(([job]) => job);
  added.mockRestore();
  replicas = [first, await startApp({}, { database: first.database })];
});
afterAll(async () => {
  for (const replica of replicas.toReversed()) await replica.close();
});

const jobsOf = (replica: TestApp) => replica.app.get(Jobs);

/** The same job on all replicas. @returns its name */
function addToAll(work: (replica: TestApp) => unknown, everySeconds = 60): string {
  const name = `test_${++names}`;
  for (const replica of replicas) jobsOf(replica).add({ name, everySeconds, work: () => work(replica) });
  return name;
}

const runOnAll = (name: string) => Promise.all(replicas.map((replica) => jobsOf(replica).run(name)));
const letPass = (name: string, seconds: number) =>
  replicas[0]!.database.query(
    'UPDATE jobs SET begun_at = begun_at - make_interval(secs => $2) WHERE name = $1',
    [name, seconds],
  );
const figure = async (replica: TestApp, name: string, labels: string) =>
  (await readMetrics(replica)).get(`mintkeep_job_${name}{${labels}}`) ?? 0;

it('runs on one replica once per period, however often it is triggered', async () => {
  let done = 0;
  const name = addToAll(() => ++done);
  await inParallel(10, () => runOnAll(name));
  expect(done).toBe(1);
  await letPass(name, 30);
  await inParallel(10, () => runOnAll(name));
  expect(done).toBe(1);
  await letPass(name, 27);
  await inParallel(10, () => runOnAll(name));
  expect(done).toBe(2);
});

it('is done with few connections, too, when many are due at once', async () => {
  const few = await startApp({ DATABASE_POOL_SIZE: '5' });
  const dataSource = few.app.get(DataSource);
  const jobs = Array.from({ length: 6 }, (_, i) => `test_few_${i}`);
  for (const name of jobs)
    jobsOf(few).add({ name, everySeconds: 60, work: () => dataSource.query('SELECT pg_sleep(0.1)') });
  await Promise.all(jobs.map((name) => jobsOf(few).run(name)));
  for (const name of jobs) expect(await figure(few, 'runs_total', `job="${name}",outcome="ok"`)).toBe(1);
  await few.close();
});

it('is due when the clock of the database was put back', async () => {
  let done = 0;
  const name = addToAll(() => ++done);
  await runOnAll(name);
  await letPass(name, -86_400);
  await inParallel(10, () => runOnAll(name));
  expect(done).toBe(2);
});

it('is not begun by another replica while it goes on, even beyond its period', async () => {
  let running = 0;
  let most = 0;
  let begun = 0;
  let end!: () => void;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const name = addToAll(async () => {
    begun++;
    most = Math.max(most, ++running);
    await ended;
    running--;
  });
  const first = jobsOf(replicas[0]!).run(name);
  await eventually(() => expect(begun).toBe(1));
  await letPass(name, 600);
  await jobsOf(replicas[1]!).run(name);
  expect(begun).toBe(1);
  end();
  await first;
  await runOnAll(name);
  expect([begun, most]).toEqual([2, 1]);
});

it('goes over to another replica when the connection of the one that does it is lost', async () => {
  const [first, second] = replicas as [TestApp, TestApp];
  let finish!: () => void;
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const workers: TestApp[] = [];
  const name = addToAll(async (replica) => {
    workers.push(replica);
    if (replica === first) await finished;
  });
  const stuck = jobsOf(first).run(name);
  await eventually(() => expect(workers).toHaveLength(1));
  const admin = await connect(first.database);
  await admin.query(
    `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND classid = 7461
       AND objid = hashtext($1)::oid`,
    [name],
  );
  await admin.end();
  await eventually(async () => {
    await letPass(name, 60); // in each attempt, since one that fails may have used its turn
    await jobsOf(second).run(name);
    expect(workers).toContain(second);
  });
  finish();
  await stuck;
});

it('tells how it went, on the replica that did it', async () => {
  let fails = false;
  const name = addToAll(() => {
    if (fails) throw new Error('no luck');
  });
  const [first, second] = replicas as [TestApp, TestApp];
  await jobsOf(first).run(name);
  expect(await figure(first, 'runs_total', `job="${name}",outcome="ok"`)).toBe(1);
  expect(await figure(first, 'duration_seconds_count', `job="${name}"`)).toBe(1);
  const succeededAt = await figure(first, 'last_success_timestamp_seconds', `job="${name}"`);
  expect(Math.abs(succeededAt - Date.now() / 1_000)).toBeLessThan(60);
  await jobsOf(second).run(name);
  expect(await figure(second, 'runs_total', `job="${name}",outcome="ok"`)).toBe(0);

  fails = true;
  await letPass(name, 60);
  await jobsOf(second).run(name);
  expect(await figure(second, 'runs_total', `job="${name}",outcome="failed"`)).toBe(1);
  expect(await figure(second, 'last_success_timestamp_seconds', `job="${name}"`)).toBe(0);
});

it('fails, and nothing else does, while the database is gone; later it is done', async () => {
  let done = 0;
  const replica = await startApp();
  jobsOf(replica).add({ name: 'test', everySeconds: 60, work: () => ++done });
  await replica.database.rejectConnections();
  await jobsOf(replica).run('test');
  expect(done).toBe(0);
  expect(await figure(replica, 'runs_total', 'job="test",outcome="failed"')).toBe(1);
  await replica.database.acceptConnections();
  await eventually(async () => {
    await jobsOf(replica).run('test');
    expect(done).toBe(1);
  });
  await replica.close();
});

it('comes up by itself, and the end of the service waits for it', async () => {
  let begun = 0;
  let ended = 0;
  const scheduler = new SchedulerRegistry();
  const jobs = new Jobs(
    { take: async (_: string, __: number, work: () => Promise<void>) => (await work(), true) } as never,
    { jobs: { finished: () => ended++ } } as never,
    scheduler,
  );
  let finish!: () => void;
  const finished = new Promise<void>((resolve) => (finish = resolve));
  jobs.add({ name: 'soon', everySeconds: 0.01, work: () => (begun++, finished) });
  jobs.onApplicationBootstrap();
  await eventually(() => expect(begun).toBe(1));
  const stopped = jobs.beforeApplicationShutdown();
  finish();
  await stopped;
  expect([begun, ended]).toEqual([1, 1]);
  expect(scheduler.getIntervals()).toEqual([]);
});

it('is in the registry of the scheduler, and not any more once the service is stopped', async () => {
  const replica = await startApp();
  const scheduler = replica.app.get(SchedulerRegistry);
  expect(scheduler.getIntervals()).toEqual(expect.arrayContaining(shipped.map(({ name }) => name)));
  await replica.close();
  expect(scheduler.getIntervals()).toEqual([]);
});

it('has a name of its own', () => {
  const name = addToAll(() => undefined);
  expect(() => jobsOf(replicas[0]!).add({ name, everySeconds: 1, work: () => undefined })).toThrow(
    `there are two jobs of the name ${name}`,
  );
});

it('is in the table of docs/operations.md, with its period', () => {
  const operations = readFileSync('docs/operations.md', 'utf8');
  const listed = [...operations.matchAll(/^\| `(\w+)` \| (\d+ \w+) \|/gm)].map(([, ...row]) => row);
  const periods = new Map([
    [10, '10 seconds'],
    [30, '30 seconds'],
    [60, '1 minute'],
    [600, '10 minutes'],
  ]);
  const jobs = shipped.map(({ name, everySeconds }) => [name, periods.get(everySeconds)]);
  expect(listed.sort()).toEqual(jobs.sort());
});
