import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Injectable, Logger } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import { PreparedQueries } from '../../database/connection/prepared-queries.js';
import {
  isUnstorable,
  isMissingPartition,
  isSerializationFailure,
} from '../../database/connection/sql-states.js';
import { joinLines } from '../journal/record-source.js';
import type { Batch } from '../journal/record-source.js';
import { USAGE_FIELD_NAMES } from '../record/usage-record.js';
import { UsagePartitions } from './usage-partitions.js';
import { WRITE_RECORDS } from './usage-statement.js';

/** Position of the time in a line. */
const AT = USAGE_FIELD_NAMES.indexOf('at');
const MAX_ATTEMPTS = 5;
const LINE_END = Buffer.from('\n');

/** Writes batches of records to the database. A record that PostgreSQL rejects does not delay the others. */
@Injectable()
export class UsageBatches {
  private readonly logger = new Logger(UsageBatches.name);
  private readonly rejectedPath: string;
  private readonly retentionMonths: number | null;

  constructor(
    private readonly queries: PreparedQueries,
    private readonly partitions: UsagePartitions,
    { dataDir, usageRetentionMonths }: Settings,
  ) {
    this.retentionMonths = usageRetentionMonths ?? null;
    this.rejectedPath = join(dataDir, 'usage-journal', 'rejected.tsv');
  }

  /** @throws when the database is unreachable: the whole batch must be written again */
  write(batch: Batch): Promise<void> {
    return this.writeOrHalve(batch.text, () => batch.lines());
  }

  /** Finds the rejected records by bisection. */
  private async writeOrHalve(text: Buffer, split: () => Buffer[]): Promise<void> {
    try {
      await this.insert(text);
    } catch (error) {
      if (!isUnstorable(error)) throw error;
      await this.writeHalves(split());
    }
  }

  private async writeHalves(lines: Buffer[]): Promise<void> {
    if (lines.length === 1) return this.setAside(lines[0]!);
    const half = Math.ceil(lines.length / 2);
    for (const part of [lines.slice(0, half), lines.slice(half)]) {
      await this.writeOrHalve(joinLines(part), () => part);
    }
  }

  private async insert(records: Buffer): Promise<void> {
    try {
      await this.insertOnce(records);
    } catch (error) {
      if (!isMissingPartition(error)) throw error;
      await this.partitions.create(timesOf(records));
      await this.insertOnce(records);
    }
  }

  private async insertOnce(records: Buffer): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.queries.rows(WRITE_RECORDS, [records, this.retentionMonths]);
        return;
      } catch (error) {
        if (!isSerializationFailure(error) || attempt === MAX_ATTEMPTS) throw error;
      }
    }
  }

  /** Keeps the line beside the journal, for an operator to inspect. */
  private async setAside(line: Buffer): Promise<void> {
    await appendFile(this.rejectedPath, Buffer.concat([line, LINE_END]), { mode: 0o600 });
    this.logger.error({ path: this.rejectedPath }, 'PostgreSQL rejected a usage record, which was set aside');
  }
}

/** Times of the records, without those that no partition is created for. */
function timesOf(records: Buffer): Date[] {
  const lines = records.toString().split('\n');
  const times = lines.map((line) => new Date(line.split('\t')[AT] ?? NaN));
  return times.filter((time) => time.getUTCFullYear() >= 2000 && time.getUTCFullYear() <= 9999);
}
