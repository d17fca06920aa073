import { closeSync, openSync, writeSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { JournalFolder } from './journal-folder.js';
import type { Batch, RecordSource } from './record-source.js';
import { SegmentReader } from './segment-reader.js';

/** Size of a segment. A segment is removed as a whole, when the database has all of its records. */
const SEGMENT_BYTES = 4 * 1024 * 1024;

/**
 * Queue of records in the files of one folder. Records take no memory.
 *
 * Writes are not synced to disk. The kernel keeps them when the process is killed. A power failure may lose the last
 * seconds.
 */
export class Journal implements RecordSource {
  private readonly segments: number[];
  private reader?: SegmentReader;
  /** Descriptor of the last segment while it is open for writing. */
  private fd?: number;
  private size = 0;
  private lastSegment = 0;
  /** Whether records may be appended. The last segment is not removed before {@link seal}. */
  private open = true;

  constructor(readonly folder: JournalFolder) {
    this.segments = folder.segments();
  }

  /** Whether the journal is sealed and the database has all of its records. */
  get empty(): boolean {
    return !this.open && this.segments.length === 0;
  }

  /**
   * Appends whole lines.
   * @param lines ASCII text
   * @throws when the lines cannot be written. They count as not written, although the file may contain some of them
   */
  append(lines: string): void {
    this.fd ??= this.openSegment();
    try {
      let written = writeSync(this.fd, lines, null, 'latin1');
      while (written < lines.length) written += writeSync(this.fd, lines.slice(written), null, 'latin1');
    } catch (error) {
      this.closeSegment(); // an incomplete last line is ignored
      throw error;
    }
    this.size += lines.length;
    if (this.size >= SEGMENT_BYTES) this.closeSegment();
  }

  async read(): Promise<Batch | undefined> {
    for (;;) {
      const [segment] = this.segments;
      if (segment === undefined) return undefined;
      const isLast = this.open && this.segments.length === 1; // before the read, because the segment may grow meanwhile
      this.reader ??= new SegmentReader(this.folder.segmentPath(segment));
      const batch = await readIfThere(this.reader);
      if (isLast) return batch;
      if (batch) return { ...batch, isFull: true };
      await this.reader.remove();
      this.reader = undefined;
      this.segments.shift();
    }
  }

  /** Number of bytes that the database does not have yet. */
  async waiting(): Promise<number> {
    const paths = this.segments.map((segment) => this.folder.segmentPath(segment));
    const sizes = await Promise.all(
      paths.map((path) =>
        stat(path).then(
          ({ size }) => size,
          () => 0,
        ),
      ),
    );
    return sizes.reduce((sum, size) => sum + size, -(this.reader?.position ?? 0));
  }

  /** Ends appending. */
  seal(): void {
    this.closeSegment();
    this.open = false;
  }

  /** Closes the files and keeps them for the process that takes over the folder. */
  async close(): Promise<void> {
    this.seal();
    await this.reader?.close();
    this.reader = undefined;
  }

  private openSegment(): number {
    const segment = this.lastSegment + 1;
    const fd = openSync(this.folder.segmentPath(segment), 'a', 0o600);
    this.segments.push(segment);
    this.lastSegment = segment;
    this.size = 0;
    return fd;
  }

  private closeSegment(): void {
    if (this.fd !== undefined) closeSync(this.fd);
    this.fd = undefined;
  }
}

/** @returns undefined also if the file was removed */
async function readIfThere(reader: SegmentReader): Promise<Batch | undefined> {
  try {
    return await reader.read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
