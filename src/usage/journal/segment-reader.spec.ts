import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SegmentReader } from './segment-reader.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mintkeep-segment-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** Reads a segment to its end. @returns the number of records of each batch, and whether it was full */
async function batchesOf(lines: number, lineBytes: number): Promise<[number, boolean][]> {
  const path = join(folder, 'segment');
  await writeFile(path, `${'x'.repeat(lineBytes - 1)}\n`.repeat(lines));
  const reader = new SegmentReader(path);
  const batches: [number, boolean][] = [];
  for (let batch = await reader.read(); batch; batch = await reader.read()) {
    batches.push([batch.records, batch.isFull]);
    await batch.commit();
  }
  await reader.close();
  return batches;
}

it.each([
  [
    '500 short records',
    700,
    100,
    [
      [500, true],
      [200, false],
    ],
  ],
  [
    '256 KiB of long records',
    400,
    1024,
    [
      [256, true],
      [144, false],
    ],
  ],
  [
    'a record that is longer than the buffer',
    3,
    300 * 1024,
    [
      [1, true],
      [1, true],
      [1, false],
    ],
  ],
])('reads %s at once, and tells whether more may wait', async (_, lines, lineBytes, batches) => {
  expect(await batchesOf(lines, lineBytes)).toEqual(batches);
});
