import { open, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { BATCH_RECORDS } from './record-source.js';
import type { Batch } from './record-source.js';

/** More than 500 records of usual length. The buffer grows for a longer line. */
const READ_BYTES = 256 * 1024;
const NEWLINE = 0x0a;

/** Reads a file of lines in batches while lines are appended to it. */
export class SegmentReader {
  private handle?: FileHandle;
  private offset = 0;
  private buffer = Buffer.allocUnsafe(READ_BYTES);

  constructor(private readonly path: string) {}

  /** Number of committed bytes. */
  get position(): number {
    return this.offset;
  }

  /** Reads the next whole lines; undefined if there are none yet. An open file stays readable after its removal. */
  async read(): Promise<Batch | undefined> {
    this.handle ??= await open(this.path, 'r');
    for (;;) {
      const { length } = this.buffer;
      const { bytesRead } = await this.handle.read(this.buffer, 0, length, this.offset);
      const ends = lineEnds(this.buffer.subarray(0, bytesRead));
      if (ends.length > 0) return this.toBatch(ends, bytesRead === length);
      if (bytesRead < length) return undefined;
      this.buffer = Buffer.allocUnsafe(length * 2);
    }
  }

  /** Closes and removes the file. */
  async remove(): Promise<void> {
    await this.close();
    await rm(this.path, { force: true });
  }

  async close(): Promise<void> {
    await this.handle?.close();
    this.handle = undefined;
  }

  /** @param hasFilledBuffer whether the file may contain more */
  private toBatch(ends: number[], hasFilledBuffer: boolean): Batch {
    const { buffer } = this;
    const length = ends.at(-1)!;
    return {
      text: buffer.subarray(0, length),
      records: ends.length,
      isFull: hasFilledBuffer || ends.length === BATCH_RECORDS,
      lines: () => ends.map((end, i) => buffer.subarray(i === 0 ? 0 : ends[i - 1]! + 1, end)),
      commit: () => {
        this.offset += length + 1;
        return Promise.resolve();
      },
    };
  }
}

function lineEnds(bytes: Buffer): number[] {
  const ends: number[] = [];
  for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, end + 1)) {
    if (ends.push(end) === BATCH_RECORDS) break;
  }
  return ends;
}
