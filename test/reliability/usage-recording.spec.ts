import { readdirSync, readFileSync } from 'node:fs';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import fc from 'fast-check';
import { recordLine } from '../../src/usage/record/record-line.js';
import type { UsageRecord } from '../../src/usage/record/usage-record.js';
import { UsageRecorder } from '../../src/usage/write/usage-recorder.js';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { readMetrics } from '../support/metrics.js';
import { record, recordAll, usageRecord, written } from '../support/usage.js';

let app: TestApp;

beforeEach(async () => {
  app = await startApp();
});
afterEach(async () => {
  await app.database.acceptConnections();
  await app.close();
});

const journal = () => join(app.dataDir, 'usage-journal');
const many = (count: number, fields: Partial<UsageRecord> = {}) =>
  Array.from({ length: count }, () => usageRecord(fields));

/** A record of some 570 bytes. */
const LONG = { path: `/v1/${'x'.repeat(300)}` };

async function journalBytes(): Promise<number> {
  const names = await readdir(journal(), { recursive: true });
  const segments = names.filter((name) => name.endsWith('.tsv'));
  const texts = await Promise.all(segments.map((name) => readFile(join(journal(), name)).catch(() => '')));
  return texts.reduce((sum, { length }) => sum + length, 0);
}

/** How many of the messages begin so. */
function timesSaid(logger: jest.SpiedFunction<Logger['warn']>, beginning: string): number {
  return logger.mock.calls.filter((messages) => messages.some((each) => String(each).startsWith(beginning)))
    .length;
}

async function sums(): Promise<unknown> {
  const [row] = await app.database.query(
    `SELECT sum(requests)::int AS requests, sum(total_tokens)::int AS tokens FROM usage_rollups
     WHERE granularity = 'day'`,
  );
  return row;
}

it('a record is in the database as it was given, within a second', async () => {
  const given = usageRecord({
    model: 'ünïcode "q"\n\\u0000',
    ttft_ms: null,
    input_tokens: null,
    latency_ms: 1.25,
  });
  await eventually(async () => {
    await app.database.query('DELETE FROM usage_records');
    const start = performance.now();
    await recordAll(app, [given]);
    const tookMs = performance.now() - start;
    const [row] = await app.database.query('SELECT * FROM usage_records');
    expect(row).toEqual(given);
    expect(tookMs).toBeLessThan(1_000); // on a busy machine some attempts take longer
  }, 90_000);
});

/** Each of them as every text of a record that may hold any. */
const withText = (text: string) =>
  usageRecord({
    ...{ user_id: text, upstream_name: text, provider: text, method: text, path: text, model: text },
    attempts: [{ upstream_id: 1, upstream_name: text, status: null, error: text, ms: 0.5 }],
  });
const oneByOne = fc.string({
  unit: fc.integer({ min: 1, max: 0xd7ff }).map((code) => String.fromCharCode(code)),
});

it('texts are in the database as they were given, whatever they hold', async () => {
  const odd = [
    ...['', ' ', 'N', 'null', '{}', '{"a":1}', '"', '""', "'", '%s $1', 'ünïcode', '語', '😀'],
    ...['\\', '\\\\', '\\N', '\\n', '\\t', '\\u0041', '\\"', '\\."', 'a\tb', '\t', '\n', 'a\nb\n'],
    ...['\r\n', '\b\f\v', '\x01\x1f\x7f\x80', '\u2028', '\ufeff'],
    ...fc.sample(oneByOne, 300),
    ...fc.sample(fc.string({ unit: 'grapheme' }), 100),
  ];
  const given = odd.map(withText);
  await recordAll(app, given);
  const rows = await app.database.query<{ id: string }>('SELECT * FROM usage_records');
  const byId = new Map(rows.map((row) => [row.id, row]));
  expect(given.map(({ id }) => byId.get(id))).toEqual(given);
});

it('says of each that it is recorded when it is in the journal', async () => {
  await app.database.rejectConnections();
  const recorder = app.app.get(UsageRecorder, { strict: false });
  const inJournal = () => {
    const [folder] = readdirSync(journal());
    return readFileSync(join(journal(), folder!, '0000000001.tsv'), 'utf8');
  };
  const given = many(3);
  const seen = await Promise.all(
    given.map(
      (record) => new Promise<string>((resolve) => recorder.record(record, () => resolve(inJournal()))),
    ),
  );
  given.forEach((record, i) => expect(seen[i]).toContain(recordLine(record)));
  expect(inJournal()).toBe(given.map(recordLine).join(''));
});

it('a callback that throws harms nobody', async () => {
  const recorder = app.app.get(UsageRecorder, { strict: false });
  recorder.record(usageRecord(), () => {
    throw new Error('of the caller');
  });
  await record(app, many(1));
  await written(app.database, 2);
});

it('a database that is away loses nothing: records wait on disk', async () => {
  const waiting = async () => (await readMetrics(app)).get('mintkeep_usage_queue_bytes');
  await app.database.rejectConnections();
  for (let i = 0; i < 200; i++) await record(app, many(100, LONG)); // several segments
  const bytes = await journalBytes();
  expect(bytes).toBeGreaterThan(10_000_000);
  expect(await waiting()).toBe(bytes);
  await app.database.acceptConnections();
  await written(app.database, 20_000, 120_000);
  expect(await sums()).toEqual({ requests: 20_000, tokens: 300_000 });
  await recordAll(app, many(1));
  await eventually(async () => expect(await waiting()).toBe(0));
  expect(await journalBytes()).toBeLessThan(5_000_000); // what is written is removed
}, 300_000);

it('a database that comes and goes under load loses nothing', async () => {
  const [warned, logged] = [jest.spyOn(Logger.prototype, 'warn'), jest.spyOn(Logger.prototype, 'log')];
  let requests = 0;
  let isOver = false;
  const load = (async () => {
    for (; !isOver; requests += 20) {
      await record(app, many(20));
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  })();
  try {
    for (let times = 1; times <= 3; times++) {
      await app.database.rejectConnections();
      await eventually(() => expect(timesSaid(warned, 'usage cannot be written')).toBe(times));
      await app.database.acceptConnections();
      await eventually(() => expect(timesSaid(logged, 'usage is written again')).toBe(times));
    }
  } finally {
    isOver = true;
    await load;
    jest.restoreAllMocks();
  }
  await written(app.database, requests, 60_000);
  expect(await sums()).toEqual({ requests, tokens: requests * 15 });
});

describe('a record that the database rejects', () => {
  it.each([
    ['U+0000 in a name', { model: 'a\0b' }],
    ['half a surrogate pair', { path: '/v1/\ud800' }],
    ['a count out of range', { input_tokens: 1e30 }],
    ['half a count', { output_tokens: 0.5 }],
    ['a name too long for an index', { model: incompressible(20_000) }],
    ['no number of an organization', { organization_id: 'x' }],
    ['no time', { at: 'some day' }],
    ['a time that no partition is made for', { at: '1970-01-01T00:00:00.000Z' }],
    ['no status', { status: undefined }],
    ['a latency that is none', { latency_ms: NaN }],
  ])('is set aside for %s, and the others are stored', async (_, fields) => {
    const bad = usageRecord(fields as unknown as Partial<UsageRecord>);
    await record(app, [...many(20), bad, ...many(20)]);
    await written(app.database, 40);
    await eventually(async () => {
      expect(await readFile(join(journal(), 'rejected.tsv'), 'utf8')).toBe(recordLine(bad));
    });
    await recordAll(app, many(1));
  });
});

/** Text without repetitions. */
function incompressible(length: number): string {
  let text = '';
  for (let seed = 1; text.length < length; seed = (seed * 48_271) % 2_147_483_647) text += seed.toString(36);
  return text.slice(0, length);
}

describe('a journal that cannot be written', () => {
  it('holds up no request, and loses nothing while the process lives', async () => {
    await writeFile(journal(), 'not a folder');
    await record(app, many(700));
    await written(app.database, 700);
    await rm(journal());
    await eventually(async () => {
      await record(app, many(1));
      expect(await readdir(journal())).toHaveLength(1);
    });
  });

  it('contains the records in memory if it can be written when the process ends', async () => {
    await app.database.rejectConnections();
    await writeFile(journal(), 'not a folder');
    await record(app, many(700));
    await rm(journal());
    await app.app.close();
    expect(await journalBytes()).toBeGreaterThan(0);
    await app.database.acceptConnections();
    const next = await startApp({}, app);
    await written(app.database, 700);
    await next.close();
  });

  it('is reported with the size of the loss if the process ends', async () => {
    const error = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    await app.database.rejectConnections();
    await writeFile(journal(), 'not a folder');
    await record(app, many(3));
    await app.app.close();
    expect(error).toHaveBeenCalledWith({ lost: 3 }, expect.stringContaining('lost'));
    error.mockRestore();
  });

  it('is made anew after its folder was removed', async () => {
    await recordAll(app, many(3));
    await rm(journal(), { recursive: true });
    await record(app, many(3));
    await written(app.database, 6);
    await eventually(async () => {
      await record(app, many(1));
      expect(await readdir(journal())).toHaveLength(1);
    });
  });

  it('is made anew after the process was held up, because it may be another’s by now', async () => {
    await app.database.rejectConnections();
    await record(app, many(2));
    const later = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 31_000);
    await record(app, many(3));
    later.mockRestore();
    expect(await readdir(journal())).toHaveLength(2);
    await app.database.acceptConnections();
    await written(app.database, 5);
  });

  it('leaves a part of the records in memory while the database is away', async () => {
    await app.database.rejectConnections();
    await writeFile(journal(), 'not a folder');
    for (let i = 0; i < 100; i++) await record(app, many(1_000, LONG));
    await app.database.acceptConnections();
    await eventually(async () => {
      const [row] = await app.database.query<{ count: number }>(
        'SELECT count(*)::int AS count FROM usage_records',
      );
      expect(row!.count).toBeGreaterThan(30_000);
    }, 120_000);
  });
});

it('files of the journal are for the service only', async () => {
  await record(app, many(1));
  const [folder] = await readdir(journal());
  const paths = ['', 'owner.json', '0000000001.tsv'].map((name) => join(journal(), folder!, name));
  const stats = await Promise.all(paths.map((path) => stat(path)));
  expect(stats.map(({ mode }) => mode & 0o077)).toEqual([0, 0, 0]);
});
