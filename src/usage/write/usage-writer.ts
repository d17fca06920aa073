import { setImmediate as turnOfTheLoop, setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { errorMessage } from '../../common/logging/error-message.js';
import { WrittenUsage } from '../../limits/consumption/written-usage.js';
import { UsageJournal } from '../journal/usage-journal.js';
import { UsageBatches } from './usage-batches.js';

/** Pause after an insert that was not full: records that arrive meanwhile share the next insert. */
const GROUP_MS = 250;
/** Interval of reads without a wake-up: finds records that were taken over from other processes. */
const LOOK_INTERVAL_MS = 1_000;
const FIRST_RETRY_MS = 50;
const LAST_RETRY_MS = 1_000;
/** Time limit for the last flush at shutdown. The remaining records stay in the journal. */
const FLUSH_TIMEOUT_MS = 10_000;

/**
 * Writes the journal to the database, one insert at a time. Each insert takes the records that arrived during the one
 * before. While the database is unreachable, records wait in the journal and take no memory.
 */
@Injectable()
export class UsageWriter implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(UsageWriter.name);
  private readonly stopping = new AbortController();
  private readonly overdue = new AbortController();
  private running?: Promise<void>;
  private sleep = new AbortController();
  private retryMs = FIRST_RETRY_MS;

  constructor(
    private readonly journal: UsageJournal,
    private readonly batches: UsageBatches,
    private readonly written: WrittenUsage,
  ) {}

  onApplicationBootstrap(): void {
    this.running = this.run();
  }

  /** Flushes the journal. All requests have ended, and the database is still connected. */
  async onApplicationShutdown(): Promise<void> {
    const timeout = setTimeout(() => this.overdue.abort(), FLUSH_TIMEOUT_MS);
    await turnOfTheLoop(); // the last records are in the journal after this turn
    this.stopping.abort();
    this.wake();
    await this.running;
    clearTimeout(timeout);
    await this.journal.close();
  }

  /** Notifies the writer of new records. */
  wake(): void {
    if (!this.sleep.signal.aborted) this.sleep.abort(); // each abort() creates an error with a stack trace
  }

  private async run(): Promise<void> {
    while (!this.overdue.signal.aborted) {
      this.sleep = new AbortController(); // before the read: later records abort the next pause
      const outcome = await this.writeNext();
      if (outcome === 'none' && this.stopping.signal.aborted) return;
      if (outcome === 'none') await this.wait(LOOK_INTERVAL_MS, this.sleep.signal);
      if (outcome === 'few') await this.wait(GROUP_MS, this.stopping.signal);
      if (outcome === 'failed') await this.backOff();
    }
  }

  private async writeNext(): Promise<'none' | 'few' | 'full' | 'failed'> {
    try {
      const batch = await this.journal.read();
      const readAt = performance.now();
      if (batch) await this.batches.write(batch);
      if (!batch?.isFull) this.written.until = readAt;
      if (!batch) return 'none';
      await batch.commit();
      this.onSuccess();
      return batch.isFull ? 'full' : 'few';
    } catch (error) {
      this.onFailure(error);
      return 'failed';
    }
  }

  private onSuccess(): void {
    if (this.retryMs !== FIRST_RETRY_MS) this.logger.log('usage is written again');
    this.retryMs = FIRST_RETRY_MS;
  }

  /** Logs once per outage of the database. */
  private onFailure(error: unknown): void {
    if (this.retryMs !== FIRST_RETRY_MS) return;
    this.logger.warn({ reason: errorMessage(error) }, 'usage cannot be written: it waits in the journal');
  }

  private async backOff(): Promise<void> {
    await this.wait(this.retryMs, this.overdue.signal);
    this.retryMs = Math.min(this.retryMs * 2, LAST_RETRY_MS);
  }

  private async wait(milliseconds: number, signal: AbortSignal): Promise<void> {
    await pause(milliseconds, undefined, { signal }).catch(() => undefined);
  }
}
