import { Injectable, Logger } from '@nestjs/common';
import { writeSoon } from '../../http/end-of-turn.js';
import type { Writer } from '../../http/end-of-turn.js';
import { UsageJournal } from '../journal/usage-journal.js';
import { recordLine } from '../record/record-line.js';
import type { UsageRecord } from '../record/usage-record.js';
import { UsageWriter } from './usage-writer.js';

/** Records usage with one write to the journal for all requests that end in one turn of the event loop. */
@Injectable()
export class UsageRecorder implements Writer {
  private readonly logger = new Logger(UsageRecorder.name);
  private lines = '';
  private callbacks: (() => void)[] = [];

  constructor(
    private readonly journal: UsageJournal,
    private readonly writer: UsageWriter,
  ) {}

  /**
   * Appends to the journal, at the latest at the end of this turn of the event loop, and then calls `onRecorded`. A
   * record in the journal reaches the database, even if this process is killed. Never throws: `onRecorded` is also called
   * when the journal cannot be written.
   */
  record(record: UsageRecord, onRecorded: () => void): void {
    this.lines += recordLine(record);
    this.callbacks.push(onRecorded);
    if (this.callbacks.length === 1) writeSoon(this);
  }

  /** @internal */
  writeNow(): void {
    const { lines, callbacks } = this;
    this.lines = '';
    this.callbacks = [];
    this.journal.append(lines);
    for (const onRecorded of callbacks) this.call(onRecorded);
    this.writer.wake(); // last, because clients wait for the journal only
  }

  private call(onRecorded: () => void): void {
    try {
      onRecorded();
    } catch (error) {
      this.logger.error({ err: error as Error }, 'unexpected failure');
    }
  }
}
