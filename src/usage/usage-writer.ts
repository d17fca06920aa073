import { setImmediate as turnOfTheLoop, setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { messagesOf } from '../common/messages-of.js';
import { BATCH_RECORDS } from './journal/record-source.js';
import type { Batch } from './journal/record-source.js';
import { UsageJournal } from './journal/usage-journal.js';
import { UsageBatches } from './usage-batches.js';

/** Between two inserts while there is less to write than fits into one: what comes meanwhile shares the next. */
const GROUP_MS = 250;
/** Without being woken: for records that were taken over from other processes. */
const LOOK_INTERVAL_MS = 1_000;
const FIRST_RETRY_MS = 50;
const LAST_RETRY_MS = 1_000;
/** For what is unwritten when the process is asked to stop; the rest is left in the journal. */
const FLUSH_TIMEOUT_MS = 10_000;

/**
 * Writes what is in the journal to the database: one insert at a time, the next one takes what came meanwhile.
 * While the database is away records wait in the journal, and nothing in memory.
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
  ) {}

  onApplicationBootstrap(): void {
    this.running = this.run();
  }

  /** By then no request runs any more, and the database is still connected. */
  async onApplicationShutdown(): Promise<void> {
    const timeout = setTimeout(() => this.overdue.abort(), FLUSH_TIMEOUT_MS);
    await turnOfTheLoop(); // what the last requests have used is in the journal then
    this.stopping.abort();
    this.wake();
    await this.running;
    clearTimeout(timeout);
    await this.journal.close();
  }

  /** There is something to write. */
  wake(): void {
    if (!this.sleep.signal.aborted) this.sleep.abort(); // to abort makes an error each time, with its stack
  }

  private async run(): Promise<void> {
    while (!this.overdue.signal.aborted) {
      this.sleep = new AbortController(); // before it looks: what comes from now on wakes it
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
      if (!batch) return 'none';
      await this.batches.write(batch);
      await batch.commit();
      this.succeeded();
      return isFull(batch) ? 'full' : 'few';
    } catch (error) {
      this.failed(error);
      return 'failed';
    }
  }

  private succeeded(): void {
    if (this.retryMs !== FIRST_RETRY_MS) this.logger.log('usage is written again');
    this.retryMs = FIRST_RETRY_MS;
  }

  /** Told once for each time that the database is away. */
  private failed(error: unknown): void {
    if (this.retryMs !== FIRST_RETRY_MS) return;
    this.logger.warn({ reason: messagesOf(error) }, 'usage cannot be written: it waits in the journal');
  }

  private async backOff(): Promise<void> {
    await this.wait(this.retryMs, this.overdue.signal);
    this.retryMs = Math.min(this.retryMs * 2, LAST_RETRY_MS);
  }

  private async wait(milliseconds: number, signal: AbortSignal): Promise<void> {
    await pause(milliseconds, undefined, { signal }).catch(() => undefined);
  }
}

function isFull({ records }: Batch): boolean {
  return records === BATCH_RECORDS;
}
