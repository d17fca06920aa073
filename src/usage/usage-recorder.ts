import { Injectable, Logger } from '@nestjs/common';
import { writeSoon } from '../common/end-of-turn.js';
import type { Writer } from '../common/end-of-turn.js';
import { UsageJournal } from './journal/usage-journal.js';
import { recordLine } from './record-line.js';
import type { UsageRecord } from './usage-record.js';
import { UsageWriter } from './usage-writer.js';

/** Takes what requests have used, off their path: one write to the journal for all that end in one turn. */
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
   * Appends to the journal, at the latest at the end of this turn of the event loop, then calls `recorded` (always,
   * also when the journal cannot be written). What is in the journal reaches the database, even when this process
   * is killed. Never throws.
   */
  record(record: UsageRecord, recorded: () => void): void {
    this.lines += recordLine(record);
    this.callbacks.push(recorded);
    if (this.callbacks.length === 1) writeSoon(this);
  }

  /** @internal */
  writeNow(): void {
    const { lines, callbacks } = this;
    this.lines = '';
    this.callbacks = [];
    this.journal.append(lines);
    for (const recorded of callbacks) this.call(recorded);
    this.writer.wake(); // afterwards: clients wait for nothing but the journal
  }

  private call(recorded: () => void): void {
    try {
      recorded();
    } catch (error) {
      this.logger.error({ err: error as Error }, 'unexpected failure');
    }
  }
}
