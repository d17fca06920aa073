import { closeSync, openSync, writeSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { JournalFolder } from './journal-folder.js';
import type { Batch, RecordSource } from './record-source.js';
import { SegmentReader } from './segment-reader.js';

/** A segment is removed as a whole when all of it is in the database: this much is kept longer than needed. */
const SEGMENT_BYTES = 4 * 1024 * 1024;

/**
 * The records of one folder: appended at one end, read from the other, with nothing in memory in between.
 *
 * Nothing is synced to disk. What was written is in the kernel's hands and survives the process, however it is
 * killed; a machine that loses its power may lose the last seconds.
 */
export class Journal implements RecordSource {
  private readonly segments: number[];
  private reader?: SegmentReader;
  /** Of the last segment while it is being written. */
  private fd?: number;
  private size = 0;
  private lastSegment = 0;
  /** Whether more may come: the last segment is not removed until {@link seal} is called. */
  private open = true;

  constructor(readonly folder: JournalFolder) {
    this.segments = folder.segments();
  }

  /** Everything that was in it is in the database. */
  get empty(): boolean {
    return !this.open && this.segments.length === 0;
  }

  /**
   * Adds whole lines.
   * @param lines in ASCII
   * @throws when they cannot be written; then they count as not written, though some of them may be there
   */
  append(lines: string): void {
    this.fd ??= this.openSegment();
    try {
      let written = writeSync(this.fd, lines, null, 'latin1');
      while (written < lines.length) written += writeSync(this.fd, lines.slice(written), null, 'latin1');
    } catch (error) {
      this.closeSegment(); // half a line at its end is no harm
      throw error;
    }
    this.size += lines.length;
    if (this.size >= SEGMENT_BYTES) this.closeSegment();
  }

  async read(): Promise<Batch | undefined> {
    for (;;) {
      const [segment] = this.segments;
      if (segment === undefined) return undefined;
      const isLast = this.open && this.segments.length === 1; // before it is read: it may grow meanwhile
      this.reader ??= new SegmentReader(this.folder.segmentPath(segment));
      const batch = await readIfThere(this.reader);
      if (batch || isLast) return batch;
      await this.reader.remove();
      this.reader = undefined;
      this.segments.shift();
    }
  }

  /** What is on disk and not in the database yet, in bytes. */
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

  /** Nothing comes any more. */
  seal(): void {
    this.closeSegment();
    this.open = false;
  }

  /** Closes the files. What is in them stays there for who takes the folder. */
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

/** Undefined also when somebody has removed the file. */
async function readIfThere(reader: SegmentReader): Promise<Batch | undefined> {
  try {
    return await reader.read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
