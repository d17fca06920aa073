import { join } from 'node:path';
import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationBootstrap } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { errorMessage } from '../../common/logging/error-message.js';
import { Settings } from '../../config/settings.js';
import { Metrics } from '../../metrics/metrics.js';
import { JournalFolder, SILENT_MS } from './journal-folder.js';
import { Journal } from './journal.js';
import { MemoryBacklog } from './memory-backlog.js';
import type { Batch, RecordSource } from './record-source.js';

const TEND_INTERVAL_MS = 5_000;
/** Pause after a failed write. Meanwhile records are kept in memory. */
const RETRY_AFTER_MS = 1_000;
/** Maximum pause of this process. After a longer one it starts a new folder, long before others may take the old one. */
const HELD_UP_MS = SILENT_MS / 2;
/**
 * Time for which the last segment of a folder is kept after a takeover. An owner that is still alive notices the loss of
 * its folder within {@link TEND_INTERVAL_MS}.
 */
const SETTLED_AFTER_MS = 2 * TEND_INTERVAL_MS;

/**
 * Queue of records on disk, in a folder of this process under `$DATA_DIR/usage-journal`. Folders of killed processes are
 * taken over at the start and while running.
 */
@Injectable()
export class UsageJournal implements RecordSource, OnApplicationBootstrap {
  private readonly logger = new Logger(UsageJournal.name);
  private readonly root: string;
  private current?: Journal;
  /** Journals that are only read: from other processes, and abandoned ones of this process. */
  private readonly others = new Set<Journal>();
  private readonly backlog = new MemoryBacklog();
  private turn = 0;
  private beatAt = 0;
  /** Monotonic time (`performance.now()`), because the system clock may be set back. */
  private retryAt = 0;
  private failing = false;
  private losing = false;

  constructor({ dataDir }: Settings, metrics: Metrics) {
    this.root = join(dataDir, 'usage-journal');
    metrics.gauge(
      'mintkeep_usage_queue_bytes',
      'Usage records on disk and in memory that the database does not have yet',
      () => this.waiting(),
    );
  }

  onApplicationBootstrap(): void {
    this.tend();
  }

  /**
   * Keeps records on disk, or in memory while the disk cannot be written.
   * @param lines ASCII text, each line with its line feed
   */
  append(lines: string): void {
    if (this.failing && performance.now() < this.retryAt) return this.keepInMemory(lines);
    const now = Date.now();
    try {
      if (now - this.beatAt > HELD_UP_MS) this.abandon();
      this.current ??= this.create(now);
      this.current.append(lines);
      if (this.failing) this.logger.log('the usage journal can be written again');
      this.failing = false;
    } catch (error) {
      if (!this.failing) this.warn(error, 'the usage journal cannot be written: records wait in memory');
      this.failing = true;
      this.retryAt = performance.now() + RETRY_AFTER_MS;
      this.abandon();
      this.keepInMemory(lines);
    }
  }

  /** Reads from all queues in turn. */
  async read(): Promise<Batch | undefined> {
    const sources: RecordSource[] = [...(this.current ? [this.current] : []), this.backlog, ...this.others];
    this.turn++;
    for (let i = 0; i < sources.length; i++) {
      const batch = await sources[(this.turn + i) % sources.length]!.read();
      if (batch) return batch;
    }
    return undefined;
  }

  /** Sends a heartbeat and takes over the folders of ended processes. */
  @Interval(TEND_INTERVAL_MS)
  tend(): void {
    try {
      if (this.current && !this.current.folder.sendHeartbeat()) this.abandon();
      this.beatAt = Date.now();
      for (const journal of this.others) this.check(journal);
      for (const folder of JournalFolder.abandoned(this.root)) this.takeOver(folder);
      this.flushBacklog();
    } catch (error) {
      this.warn(error, 'the usage journal cannot be maintained');
    }
  }

  /** Closes the journal after the last append. Records that the database does not have are left to the next start. */
  async close(): Promise<void> {
    this.flushBacklog();
    const lost = this.backlog.records;
    if (lost > 0) this.logger.error({ lost }, 'usage records were lost: the memory backlog is full');
    this.abandon();
    for (const journal of this.others) {
      const rest = await journal.read(); // also removes segments that were read to their end
      if (rest === undefined && journal.empty) journal.folder.remove();
      else journal.folder.release();
      await journal.close();
    }
    this.others.clear();
  }

  private async waiting(): Promise<number> {
    const journals = [...(this.current ? [this.current] : []), ...this.others];
    const bytes = await Promise.all(journals.map((journal) => journal.waiting()));
    return bytes.reduce((sum, each) => sum + each, this.backlog.size);
  }

  /** Moves records from memory to disk if possible, because memory ends with the process. */
  private flushBacklog(): void {
    if (this.backlog.records === 0) return;
    try {
      this.current ??= this.create(Date.now());
      this.backlog.moveTo((lines) => this.current!.append(lines));
    } catch {
      this.abandon(); // the first failure was logged
    }
  }

  private create(now: number): Journal {
    this.beatAt = now;
    return new Journal(JournalFolder.create(this.root));
  }

  /** Stops appending to the present folder. Its records are still written to the database. */
  private abandon(): void {
    if (!this.current) return;
    this.current.seal();
    this.others.add(this.current);
    this.current = undefined;
  }

  private check(journal: Journal): void {
    if (journal.empty) journal.folder.remove();
    else if (journal.folder.sendHeartbeat()) return;
    this.others.delete(journal); // empty, or taken over by another process
    void journal.close();
  }

  private takeOver(folder: JournalFolder): void {
    const taken = folder.takeOver(this.root);
    if (!taken) return;
    const journal = new Journal(taken);
    this.others.add(journal);
    setTimeout(() => journal.seal(), SETTLED_AFTER_MS).unref();
  }

  private keepInMemory(lines: string): void {
    const records = lines.trimEnd().split('\n');
    const lost = records.filter((record) => !this.backlog.add(Buffer.from(record))).length;
    if (lost > 0 && !this.losing)
      this.logger.error({ lost }, 'usage records were lost: the memory backlog is full');
    this.losing = lost > 0;
  }

  private warn(error: unknown, message: string): void {
    this.logger.warn({ reason: errorMessage(error) }, message);
  }
}
