import { join } from 'node:path';
import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationBootstrap } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { messagesOf } from '../../common/messages-of.js';
import { Settings } from '../../config/settings.js';
import { Metrics } from '../../metrics/metrics.js';
import { JournalFolder, SILENT_MS } from './journal-folder.js';
import { Journal } from './journal.js';
import { MemoryBacklog } from './memory-backlog.js';
import type { Batch, RecordSource } from './record-source.js';

const TEND_INTERVAL_MS = 5_000;
/** After a write that failed. Until then records are kept in memory. */
const RETRY_AFTER_MS = 1_000;
/** A process that was held up for longer takes a new folder, well before others may take its old one. */
const HELD_UP_MS = SILENT_MS / 2;
/**
 * A folder that was taken is watched for this long before its last segment goes: its owner, should it live after
 * all, finds out within {@link TEND_INTERVAL_MS} that it is no longer there.
 */
const SETTLED_AFTER_MS = 2 * TEND_INTERVAL_MS;

/**
 * Where records wait for the database: in a folder of this process under `$DATA_DIR/usage-journal`. Those of
 * processes that were killed are taken over, at the start and while running.
 */
@Injectable()
export class UsageJournal implements RecordSource, OnApplicationBootstrap {
  private readonly logger = new Logger(UsageJournal.name);
  private readonly root: string;
  private current?: Journal;
  /** Of other processes, and those of our own that we have given up. */
  private readonly others = new Set<Journal>();
  private readonly backlog = new MemoryBacklog();
  private turn = 0;
  private beatAt = 0;
  /** As `performance.now()` has it: clocks are put back. */
  private retryAt = 0;
  private failing = false;
  private losing = false;

  constructor({ dataDir }: Settings, metrics: Metrics) {
    this.root = join(dataDir, 'usage-journal');
    metrics.gauge(
      'mintkeep_usage_queue_bytes',
      'Records that wait for the database, on disk and in memory',
      () => this.waiting(),
    );
  }

  onApplicationBootstrap(): void {
    this.tend();
  }

  /**
   * Keeps records, whatever happens: on disk, or in memory while that cannot be written.
   * @param lines one for each, in ASCII, each with its line end
   */
  append(lines: string): void {
    if (this.failing && performance.now() < this.retryAt) return this.remember(lines);
    const now = Date.now();
    try {
      if (now - this.beatAt > HELD_UP_MS) this.giveUp();
      this.current ??= this.create(now);
      this.current.append(lines);
      if (this.failing) this.logger.log('the journal of usage is written again');
      this.failing = false;
    } catch (error) {
      if (!this.failing) this.warn(error, 'the journal of usage cannot be written: records wait in memory');
      this.failing = true;
      this.retryAt = performance.now() + RETRY_AFTER_MS;
      this.giveUp();
      this.remember(lines);
    }
  }

  /** From all that wait, in turns. */
  async read(): Promise<Batch | undefined> {
    const sources: RecordSource[] = [...(this.current ? [this.current] : []), this.backlog, ...this.others];
    this.turn++;
    for (let i = 0; i < sources.length; i++) {
      const batch = await sources[(this.turn + i) % sources.length]!.read();
      if (batch) return batch;
    }
    return undefined;
  }

  /** Shows others that this process lives, and looks after the folders of those that do not. */
  @Interval(TEND_INTERVAL_MS)
  tend(): void {
    try {
      if (this.current && !this.current.folder.beat()) this.giveUp();
      this.beatAt = Date.now();
      for (const journal of this.others) this.look(journal);
      for (const folder of JournalFolder.abandoned(this.root)) this.takeOver(folder);
      this.writeDown();
    } catch (error) {
      this.warn(error, 'the journal of usage cannot be looked after');
    }
  }

  /** Ends it, when nothing is appended any more. What is not in the database is left to the next start. */
  async close(): Promise<void> {
    this.writeDown();
    const lost = this.backlog.records;
    if (lost > 0) this.logger.error({ lost }, 'no room for records of usage: some are lost');
    this.giveUp();
    for (const journal of this.others) {
      const rest = await journal.read(); // also lets go of what has been read to its end
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

  /** What had to be kept in memory, if it can be written by now: otherwise it would end with the process. */
  private writeDown(): void {
    if (this.backlog.records === 0) return;
    try {
      this.current ??= this.create(Date.now());
      this.backlog.moveTo((lines) => this.current!.append(lines));
    } catch {
      this.giveUp(); // which was told when it began
    }
  }

  private create(now: number): Journal {
    this.beatAt = now;
    return new Journal(JournalFolder.create(this.root));
  }

  /** What is in it is still written to the database. */
  private giveUp(): void {
    if (!this.current) return;
    this.current.seal();
    this.others.add(this.current);
    this.current = undefined;
  }

  private look(journal: Journal): void {
    if (journal.empty) journal.folder.remove();
    else if (journal.folder.beat()) return;
    this.others.delete(journal); // done with, or taken by another process
    void journal.close();
  }

  private takeOver(folder: JournalFolder): void {
    const taken = folder.take(this.root);
    if (!taken) return;
    const journal = new Journal(taken);
    this.others.add(journal);
    setTimeout(() => journal.seal(), SETTLED_AFTER_MS).unref();
  }

  private remember(lines: string): void {
    const records = lines.trimEnd().split('\n');
    const lost = records.filter((record) => !this.backlog.add(Buffer.from(record))).length;
    if (lost > 0 && !this.losing) this.logger.error({ lost }, 'no room for records of usage: some are lost');
    this.losing = lost > 0;
  }

  private warn(error: unknown, message: string): void {
    this.logger.warn({ reason: messagesOf(error) }, message);
  }
}
