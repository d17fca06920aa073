import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { UsageJournal } from '../../src/usage/journal/usage-journal.js';
import { recordLine } from '../../src/usage/record/record-line.js';
import { FIRST_FIELDS, USAGE_FIELD_NAMES } from '../../src/usage/record/usage-record.js';
import type { UsageFieldName, UsageRecord } from '../../src/usage/record/usage-record.js';
import { startApp, testVariables } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { createDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { inParallel } from '../support/parallel.js';
import { usageRecord, written } from '../support/usage.js';

const REPLICA = join(import.meta.dirname, '../support/recording-replica.mjs');
const GONE_PID = 4_194_304; // above the largest that Linux gives
/** Time for a replica to start and to record. */
const START_TIMEOUT_MS = 90_000;
/** Few enough to be written within the time limit of a shutdown, also on a busy machine. */
const FEW = 3_000;

let database: TestDatabase;
let dataDir: string;
const apps: TestApp[] = [];
const children: ChildProcess[] = [];

beforeEach(async () => {
  database = await createDatabase();
  dataDir = await mkdtemp(join(tmpdir(), 'mintkeep-usage-'));
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await database.acceptConnections();
  await Promise.all(apps.splice(0).map((app) => app.close()));
  await database.drop();
  await rm(dataDir, { recursive: true });
});

async function start(): Promise<TestApp> {
  const app = await startApp({}, { database, dataDir });
  apps.push(app);
  return app;
}

/** A replica that records; `acknowledged` are the ids of records whose response may be sent. */
function startReplica(maxRecords = Infinity) {
  const more = { PATH: process.env.PATH, MAX_RECORDS: String(maxRecords) };
  const env = { ...more, ...testVariables(database.url, dataDir) };
  const child = spawn(process.execPath, [REPLICA], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  return {
    acknowledged: () => output.split('\n').slice(0, -1),
    end: async (signal: NodeJS.Signals) => {
      const closed = once(child, 'close');
      child.kill(signal);
      return closed;
    },
  };
}

const idsWritten = async () =>
  new Set((await database.query<{ id: string }>('SELECT id FROM usage_records')).map(({ id }) => id));

/** Roll-ups count what is on record, once. */
async function expectSumsToAgree(): Promise<void> {
  const [row] = await database.query(`
    SELECT (SELECT count(*) FROM usage_records)::int AS records,
      (SELECT sum(requests) FROM usage_rollups WHERE granularity = 'hour')::int AS hours,
      (SELECT sum(requests) FROM usage_rollups WHERE granularity = 'day')::int AS days,
      (SELECT sum(requests) FROM usage_rollups WHERE granularity = 'month')::int AS months`);
  const { records } = row!;
  expect(row).toEqual({ records, hours: records, days: records, months: records });
}

async function expectAll(acknowledged: readonly string[]): Promise<void> {
  await eventually(async () => {
    const ids = await idsWritten();
    expect(acknowledged.filter((id) => !ids.has(id))).toEqual([]);
  }, 60_000);
  await expectSumsToAgree();
}

/** A folder of the journal as a process would have left it. */
async function leaveJournal(
  owner: object | string | undefined,
  ...segments: (string | Buffer)[]
): Promise<string> {
  const folder = join(dataDir, 'usage-journal', crypto.randomUUID());
  await mkdir(folder, { recursive: true });
  if (owner)
    await writeFile(join(folder, 'owner.json'), typeof owner === 'string' ? owner : JSON.stringify(owner));
  for (const [i, text] of segments.entries())
    await writeFile(join(folder, `${String(i + 1).padStart(10, '0')}.tsv`), text);
  return folder;
}

const lines = (...records: UsageRecord[]) => records.map(recordLine).join('');

it('kill -9 loses no record that was acknowledged, whenever it comes', async () => {
  const acknowledged: string[] = [];
  for (let round = 0; round < 3; round++) {
    const replica = startReplica();
    await eventually(() => expect(replica.acknowledged().length).toBeGreaterThan(100), START_TIMEOUT_MS);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 300));
    await replica.end('SIGKILL');
    acknowledged.push(...replica.acknowledged());
  }
  await start();
  await expectAll(acknowledged);
}, 600_000);

it('kill -9 while the database is away loses nothing either', async () => {
  const replica = startReplica();
  await eventually(() => expect(replica.acknowledged().length).toBeGreaterThan(0), START_TIMEOUT_MS);
  await database.rejectConnections();
  const before = replica.acknowledged().length;
  await eventually(() => expect(replica.acknowledged().length).toBeGreaterThan(before + 2_000));
  await replica.end('SIGKILL');
  await database.acceptConnections();
  await start();
  await expectAll(replica.acknowledged());
});

it('SIGTERM leaves nothing in the journal', async () => {
  const replica = startReplica(FEW);
  await eventually(() => expect(replica.acknowledged().length).toBeGreaterThan(1_000), START_TIMEOUT_MS);
  expect(await replica.end('SIGTERM')).toEqual([0, null]);
  const ids = await idsWritten();
  expect(replica.acknowledged().filter((id) => !ids.has(id))).toEqual([]);
  expect(await readdir(join(dataDir, 'usage-journal'))).toEqual([]);
});

it('replicas that write the same sums at once neither lose nor block', async () => {
  const replicas = [startReplica(FEW), startReplica(FEW), startReplica(FEW)];
  for (const { acknowledged } of replicas)
    await eventually(() => expect(acknowledged().length).toBeGreaterThan(1_000), START_TIMEOUT_MS);
  await Promise.all(replicas.map(({ end }) => end('SIGTERM')));
  await expectAll(replicas.flatMap(({ acknowledged }) => acknowledged()));
});

it('replayed records are counted once, and half a line is dropped', async () => {
  const records = Array.from({ length: 1_200 }, () => usageRecord());
  const torn = lines(usageRecord()).slice(0, 80);
  await leaveJournal({ hostname: hostname(), pid: GONE_PID, startedAt: '1' }, lines(...records), torn);
  await leaveJournal(undefined, lines(...records.slice(0, 700)) + torn);
  await start();
  await written(database, 1_200);
  await expectSumsToAgree();
});

it('lines of version 0.2, which had fewer fields, are written', async () => {
  const records = Array.from({ length: 3 }, () => usageRecord({ cost_usd: 5, price_source: 'own' }));
  const short = (line: string) => `${line.split('\t').slice(0, FIRST_FIELDS).join('\t')}\n`;
  await leaveJournal(
    undefined,
    lines(...records)
      .trimEnd()
      .split('\n')
      .map(short)
      .join(''),
  );
  await start();
  await written(database, 3);
  expect(
    await database.query('SELECT DISTINCT cost_usd, price_source, cache_write_tokens FROM usage_records'),
  ).toEqual([{ cost_usd: null, price_source: 'none', cache_write_tokens: null }]);
  await expectSumsToAgree();
});

describe('lines that are none', () => {
  const good = () => recordLine(usageRecord({ path: '/v1/ü\t"' })).slice(0, -1);
  /** Creates a line with one replaced field. */
  const withField = (name: UsageFieldName, text: string | Buffer) => {
    const fields: (string | Buffer)[] = good().split('\t');
    fields[USAGE_FIELD_NAMES.indexOf(name)] = text;
    return Buffer.concat(fields.flatMap((each, i) => [Buffer.from(i === 0 ? '' : '\t'), Buffer.from(each)]));
  };
  const BAD: [string, string | Buffer][] = [
    ['a word', 'x'],
    ['tabs', '\t'.repeat(22)],
    ['more tabs', '\t'.repeat(40)],
    ['nulls', Array(23).fill('\\N').join('\t')],
    ['a part of a line', good().slice(0, 150)],
    ['the end of a line', good().slice(150)],
    ['a line without its last field', good().split('\t').slice(0, -1).join('\t')],
    ['only the first two fields', good().split('\t').slice(0, 2).join('\t')],
    ['a field too many', `${good()}\t`],
    ['another field too many', `${good()}\t\\N`],
    ['two lines in one', good() + good()],
    ['half a line before another', good().slice(0, 100) + good()],
    ['JSON', JSON.stringify(usageRecord())],
    ['a text that is no UTF-8', withField('model', Buffer.from([0x61, 0xff]))],
    ['bytes that are no UTF-8', Buffer.from([0xff, 0xfe, 0x80, 0x00, 0xc3])],
    ['zeros, as after a loss of power', Buffer.alloc(400)],
    ['many bytes', Buffer.from(Array.from({ length: 300 }, (_, i) => ((i * 7_919) % 245) + 11))],
    ['a UUID that is none', withField('id', 'x')],
    ['no UUID', withField('id', '\\N')],
    ['a time that is none', withField('at', 'x')],
    ['no time', withField('at', '\\N')],
    ['an empty time', withField('at', '')],
    ['a day that is none', withField('at', '2026-02-31T00:00:00.000Z')],
    ['a time out of range', withField('at', '999999-01-01T00:00:00.000Z')],
    ['a time without end', withField('at', 'infinity')],
    ['a time zone that is none', withField('at', '2026-01-01 00:00:00 Nowhere/City')],
    ['a number that is none', withField('organization_id', 'x')],
    ['a number out of range', withField('organization_id', '99999999999999999999')],
    ['no user', withField('user_id', '\\N')],
    ['an escape that is none', withField('user_id', '\\x')],
    ['a backslash at the end', withField('user_id', 'x\\')],
    ['half an escape', withField('path', '\\u00')],
    ['a quote within escapes', withField('path', '\\t"')],
    ['text after a text', withField('path', '\\t","x')],
    ['neither true nor false', withField('stream', 'maybe')],
    ['a status out of range', withField('status', '3000000000')],
    ['an outcome that is null', withField('outcome', '\\N')],
    ['a latency that is none', withField('latency_ms', 'NaN')],
    ['a latency without end', withField('latency_ms', 'Infinity')],
    ['a latency out of range', withField('latency_ms', '1e999')],
    ['attempts that are no JSON', withField('attempts', '[{')],
    ['attempts nested too deep', withField('attempts', '['.repeat(100_000))],
    ['no attempts', withField('attempts', '\\N')],
    ['attempts with U+0000', withField('attempts', Buffer.from('["\0"]'))],
  ];

  it('are set aside as they were, and hold up none of the others', async () => {
    const records = Array.from({ length: BAD.length * 3 }, () => usageRecord());
    const mixed = BAD.flatMap(([, bad], i) => [lines(...records.slice(3 * i, 3 * i + 3)), bad, '\n']);
    await leaveJournal(undefined, Buffer.concat(mixed.map((part) => Buffer.from(part))));
    await start();
    await written(database, records.length, 150_000); // each bad one is looked for by halves
    expect(await idsWritten()).toEqual(new Set(records.map(({ id }) => id)));
    await expectSumsToAgree();
    const expected = Buffer.concat(BAD.flatMap(([, bad]) => [Buffer.from(bad), Buffer.from('\n')]));
    await eventually(async () => {
      const rejected = await readFile(join(dataDir, 'usage-journal', 'rejected.tsv'));
      expect(rejected.toString('latin1').split('\n')).toEqual(expected.toString('latin1').split('\n'));
    });
  }, 300_000);

  it('are dropped where nothing is in them', async () => {
    await leaveJournal(undefined, `\n${good()}\n\n\n${good()}\n\n`, '\n');
    await start();
    await written(database, 2);
    expect(await readdir(join(dataDir, 'usage-journal'))).not.toContain('rejected.tsv');
  });
});

it('replicas that start together take over a folder once between them, or harm nothing', async () => {
  const records = Array.from({ length: 600 }, () => usageRecord());
  for (let i = 0; i < 5; i++)
    await leaveJournal(
      { hostname: hostname(), pid: GONE_PID, startedAt: '1' },
      lines(...records.slice(i * 100)),
    );
  await inParallel(3, start);
  await written(database, 600);
  await expectSumsToAgree();
});

describe('a folder of the journal', () => {
  const HOUR_AGO = new Date(Date.now() - 3_600_000);
  const elsewhere = { hostname: 'another-host', pid: 1, startedAt: '1' };

  it.each([
    ['of a process that has ended', { hostname: hostname(), pid: GONE_PID, startedAt: '1' }, false],
    ['of an earlier process with our pid', { hostname: hostname(), pid: process.pid, startedAt: '1' }, false],
    ['of a silent process on another host', elsewhere, true],
    ['without an owner', undefined, false],
    ['whose owner cannot be read', '{"host', false],
  ])('%s is taken over', async (_, owner, silent) => {
    const record = usageRecord();
    const folder = await leaveJournal(owner, lines(record));
    if (silent) await utimes(join(folder, 'owner.json'), HOUR_AGO, HOUR_AGO);
    await start();
    await written(database, 1);
    expect(await idsWritten()).toEqual(new Set([record.id]));
  });

  it('is left alone while its process lives', async () => {
    const parent = { hostname: hostname(), pid: process.ppid, startedAt: null };
    const left = await Promise.all(
      [parent, elsewhere].map((owner) => leaveJournal(owner, lines(usageRecord()))),
    );
    const record = usageRecord();
    await leaveJournal(undefined, lines(record));
    const app = await start();
    await written(database, 1);
    await app.close();
    apps.pop();
    expect(await idsWritten()).toEqual(new Set([record.id]));
    for (const folder of left) expect(await readdir(folder)).toHaveLength(2);
  });

  it('is watched for a while after the takeover: its owner may live after all', async () => {
    const [first, late] = [usageRecord(), usageRecord()];
    const app = await start();
    await leaveJournal(undefined, lines(first));
    app.app.get(UsageJournal, { strict: false }).tend(); // the start would take from the time for which it is watched
    await written(database, 1);
    const root = join(dataDir, 'usage-journal');
    const [taken] = await readdir(root);
    await appendFile(join(root, taken!, '0000000001.tsv'), lines(late));
    await written(database, 2);
    await eventually(async () => expect(await readdir(root)).toEqual([]));
  });
});
