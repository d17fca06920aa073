import { BATCH_RECORDS, joinLines } from './record-source.js';
import type { Batch, RecordSource } from './record-source.js';

/** About 90,000 records. */
const MAX_BYTES = 32 * 1024 * 1024;

/** Queue in memory for the time in which the journal cannot be written. */
export class MemoryBacklog implements RecordSource {
  private waiting: Buffer[] = [];
  private bytes = 0;

  /** Number of bytes. */
  get size(): number {
    return this.bytes;
  }

  /** @returns false if the queue is full and the record is lost */
  add(line: Buffer): boolean {
    if (this.bytes + line.length > MAX_BYTES) return false;
    this.bytes += line.length;
    this.waiting.push(line);
    return true;
  }

  get records(): number {
    return this.waiting.length;
  }

  /** Moves all records to `write`, oldest first. Records for which `write` throws stay here. */
  moveTo(write: (lines: string) => void): void {
    while (this.waiting.length > 0) {
      const lines = this.waiting.slice(0, BATCH_RECORDS);
      write(`${joinLines(lines).toString('latin1')}\n`);
      this.drop(lines);
    }
  }

  read(): Promise<Batch | undefined> {
    const lines = this.waiting.slice(0, BATCH_RECORDS);
    return Promise.resolve(lines.length > 0 ? this.toBatch(lines) : undefined);
  }

  private toBatch(lines: Buffer[]): Batch {
    return {
      text: joinLines(lines),
      records: lines.length,
      isFull: lines.length === BATCH_RECORDS,
      lines: () => lines,
      commit: () => {
        if (this.waiting[0] === lines[0]) this.drop(lines); // not if they were moved meanwhile
        return Promise.resolve();
      },
    };
  }

  /** @param lines the first lines of the queue */
  private drop(lines: readonly Buffer[]): void {
    this.waiting = this.waiting.slice(lines.length);
    this.bytes -= lines.reduce((sum, { length }) => sum + length, 0);
  }
}
