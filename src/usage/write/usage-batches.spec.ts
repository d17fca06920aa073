import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { usageRecord } from '../../../test/support/usage.js';
import type { Settings } from '../../config/settings.js';
import type { PreparedQueries } from '../../database/connection/prepared-queries.js';
import { joinLines } from '../journal/record-source.js';
import { recordLine } from '../record/record-line.js';
import { UsageBatches } from './usage-batches.js';
import type { UsagePartitions } from './usage-partitions.js';

const REFUSAL = Object.assign(new Error('refused'), { code: '22P02' });
const OUTAGE = new Error('connection terminated');

let dataDir: string;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'mintkeep-batches-'));
  await mkdir(join(dataDir, 'usage-journal'));
});
afterEach(() => rm(dataDir, { recursive: true }));

const asideIn = (folder: string) => join(folder, 'usage-journal', 'rejected.tsv');

/** Writes four records, where the database answers one statement after the other so. */
function write(...answers: (Error | undefined)[]): Promise<void> {
  const rows = () => {
    const error = answers.shift();
    return error ? Promise.reject(error) : Promise.resolve([]);
  };
  const queries = { rows } as unknown as PreparedQueries;
  const batches = new UsageBatches(queries, {} as UsagePartitions, { dataDir } as Settings);
  const lines = Array.from({ length: 4 }, () => Buffer.from(recordLine(usageRecord()).slice(0, -1)));
  return batches.write({
    text: joinLines(lines),
    records: lines.length,
    isFull: false,
    lines: () => lines,
    commit: () => Promise.resolve(),
  });
}

it.each([0, 1, 2])('sets nothing aside when the database goes away after %d rejections', async (count) => {
  await expect(write(...Array.from({ length: count }, () => REFUSAL), OUTAGE)).rejects.toBe(OUTAGE);
  expect(existsSync(asideIn(dataDir))).toBe(false);
});

it('sets aside the record that is rejected by itself, and writes the others', async () => {
  const [first, half, one] = [REFUSAL, REFUSAL, REFUSAL];
  await write(first, half, one, undefined, undefined);
  expect((await readFile(asideIn(dataDir), 'utf8')).split('\n')).toHaveLength(2);
});
