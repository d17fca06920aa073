import { BATCH_RECORDS, joinLines } from './record-source.js';
import type { Batch, RecordSource } from './record-source.js';

/** What is kept while the journal cannot be written; some 90,000 records. */
const MAX_BYTES = 32 * 1024 * 1024;

/** Records that wait in memory, because there is no journal to keep them in. */
export class MemoryBacklog implements RecordSource {
  private waiting: Buffer[] = [];
  private bytes = 0;

  /** In bytes. */
  get size(): number {
    return this.bytes;
  }

  /** False when there is no more room: then they are lost. */
  add(line: Buffer): boolean {
    if (this.bytes + line.length > MAX_BYTES) return false;
    this.bytes += line.length;
    this.waiting.push(line);
    return true;
  }

  read(): Promise<Batch | undefined> {
    const lines = this.waiting.slice(0, BATCH_RECORDS);
    return Promise.resolve(lines.length > 0 ? this.toBatch(lines) : undefined);
  }

  private toBatch(lines: Buffer[]): Batch {
    return {
      text: joinLines(lines),
      records: lines.length,
      lines: () => lines,
      commit: () => {
        this.waiting = this.waiting.slice(lines.length);
        this.bytes -= lines.reduce((sum, { length }) => sum + length, 0);
        return Promise.resolve();
      },
    };
  }
}
