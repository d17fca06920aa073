import { jest } from '@jest/globals';
import { UsagePartitions } from '../../src/usage/write/usage-partitions.js';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { connect, createDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { inParallel } from '../support/parallel.js';
import { record, recordAll, usageRecord, written } from '../support/usage.js';

/** All that jest would replace beside `Date`. */
const TIMERS = [
  ...(['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate'] as const),
  ...(['clearImmediate', 'nextTick', 'queueMicrotask', 'hrtime', 'performance'] as const),
];
const RETENTION = { USAGE_RETENTION_MONTHS: '2' };

let database: TestDatabase;
let app: TestApp;

beforeEach(async () => {
  database = await createDatabase();
});
afterEach(async () => {
  await app.close();
  await database.drop();
});

const start = async (variables: NodeJS.ProcessEnv = {}) => {
  app = await startApp(variables, { database });
  return app.app.get(UsagePartitions, { strict: false });
};

/** The middle of the month that is this many after this one. */
function inMonth(months: number): Date {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 15));
}
const nameOf = (time: Date) => `usage_records_${time.toISOString().slice(0, 7).replace('-', '_')}`;
const recordIn = (months: number) => usageRecord({ at: inMonth(months).toISOString() });

async function partitions(): Promise<string[]> {
  const rows = await database.query<{ name: string }>(
    `SELECT inhrelid::regclass::text AS name FROM pg_inherits
     WHERE inhparent = 'usage_records'::regclass ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}
const monthsFrom = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, i) => nameOf(inMonth(first + i)));

it('this month and the next two have partitions from the start', async () => {
  await start();
  expect(await partitions()).toEqual(monthsFrom(0, 2));
});

it('time goes by, and the next months get theirs', async () => {
  const job = await start();
  await job.createAhead(inMonth(2));
  expect(await partitions()).toEqual(monthsFrom(0, 4));
});

it('any number of replicas may make them at once', async () => {
  const job = await start();
  await inParallel(10, (i) => job.createAhead(inMonth(i % 3)));
  expect(await partitions()).toEqual(monthsFrom(0, 4));
});

it('making one waits for no insert, and no insert for it', async () => {
  const job = await start();
  const other = await connect(database);
  await other.query('BEGIN');
  await other.query('INSERT INTO usage_records SELECT * FROM json_populate_record(NULL::usage_records, $1)', [
    JSON.stringify(usageRecord()),
  ]);
  await job.createAhead(inMonth(5));
  await other.query('ROLLBACK');
  await other.end();
  expect(await partitions()).toContain(nameOf(inMonth(7)));
});

it('partitions have the indexes that queries need', async () => {
  await start();
  const rows = await database.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM pg_indexes WHERE tablename = $1',
    [nameOf(inMonth(1))],
  );
  expect(rows[0]!.count).toBe(2);
});

it('a record from before, which a journal has kept, gets its partition', async () => {
  await start();
  await recordAll(app, [recordIn(-14), recordIn(0), recordIn(-3)]);
  expect(await partitions()).toEqual([nameOf(inMonth(-14)), nameOf(inMonth(-3)), ...monthsFrom(0, 2)]);
});

describe('retention', () => {
  it('is for ever when nothing is set', async () => {
    const job = await start();
    await recordAll(app, [recordIn(-40)]);
    await job.run();
    await written(database, 1);
  });

  it('drops whole months that are past it; their sums stay', async () => {
    await start();
    await recordAll(app, [-4, -3, -2, -1, 0].map(recordIn));
    await app.close();
    const job = await start(RETENTION);
    await job.run();
    expect(await partitions()).toEqual(monthsFrom(-2, 2));
    await written(database, 3);
    const [row] = await database.query(
      `SELECT sum(requests)::int AS requests FROM usage_rollups WHERE granularity = 'day'`,
    );
    expect(row).toEqual({ requests: 5 });
  });

  it('is kept for records that come late, too', async () => {
    await start(RETENTION);
    await record(app, [recordIn(-3), recordIn(-2)]);
    await written(database, 1);
    expect(await partitions()).toEqual(monthsFrom(-2, 2).filter((name) => name !== nameOf(inMonth(-1))));
    const [row] = await database.query('SELECT sum(requests)::int AS requests FROM usage_rollups');
    expect(row).toEqual({ requests: 3 }); // an hour, a day and a month
  });

  it('goes by the clock of the database, not by one that is years ahead', async () => {
    const job = await start(RETENTION);
    await recordAll(app, [-1, 0].map(recordIn));
    const [older, late] = [inMonth(-2), recordIn(-1)];
    jest.useFakeTimers({ doNotFake: TIMERS, now: inMonth(120) });
    try {
      await job.run();
      await job.create([older]);
      await record(app, [late]);
    } finally {
      jest.useRealTimers();
    }
    await written(database, 3);
    expect(await partitions()).toEqual(monthsFrom(-2, 2));
  });

  it('waits for who reads, but not for long, and comes back to it', async () => {
    await start();
    await recordAll(app, [recordIn(-5)]);
    await app.close();
    const job = await start(RETENTION);
    const reader = await connect(database);
    await reader.query('BEGIN');
    await reader.query('SELECT count(*) FROM usage_records');
    await expect(job.run()).rejects.toThrow('lock timeout');
    expect(await partitions()).toContain(nameOf(inMonth(-5)));
    await reader.query('COMMIT');
    await reader.end();
    await job.run();
    expect(await partitions()).not.toContain(nameOf(inMonth(-5)));
  });

  it('is looked after by one replica at a time', async () => {
    await start();
    await recordAll(app, [recordIn(-5), recordIn(-6)]);
    await app.close();
    const job = await start(RETENTION);
    const dropped = await inParallel(5, () => job.dropExpired());
    expect(dropped.flat().sort()).toEqual([nameOf(inMonth(-6)), nameOf(inMonth(-5))]);
    expect(await partitions()).toEqual(monthsFrom(0, 2));
  });
});
