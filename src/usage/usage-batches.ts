import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Injectable, Logger } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { PreparedQueries } from '../database/prepared.js';
import { isUnstorable, lacksPartition, lostRace } from '../database/sql-states.js';
import { currentLine } from './former-line.js';
import { joinLines } from './journal/record-source.js';
import type { Batch } from './journal/record-source.js';
import { repaired } from './repaired.js';
import { UsagePartitions } from './usage-partitions.js';
import { WRITE_RECORDS } from './usage-statement.js';

const RACES = 5;
const LINE_END = Buffer.from('\n');

/** Writes batches of records to the database. A record that it refuses holds up none of the others. */
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

  /** @throws when the database cannot be reached: then all of it is to be written again */
  async write(batch: Batch): Promise<void> {
    try {
      await this.insert(batch.text);
    } catch (error) {
      if (!isUnstorable(error)) throw error;
      await this.writeParts(batch.lines());
    }
  }

  /** Finds the records that are refused by halves. */
  private async writeParts(lines: Buffer[]): Promise<void> {
    if (lines.length === 1) return this.writeRepaired(lines[0]!);
    const half = Math.ceil(lines.length / 2);
    for (const part of [lines.slice(0, half), lines.slice(half)]) {
      try {
        await this.insert(joinLines(part.map(currentLine)));
      } catch (error) {
        if (!isUnstorable(error)) throw error;
        await this.writeParts(part);
      }
    }
  }

  private async writeRepaired(line: Buffer): Promise<void> {
    const record = repaired(currentLine(line));
    if (!record) return this.setAside(line);
    try {
      await this.insert(Buffer.from(record));
    } catch (error) {
      if (!isUnstorable(error)) throw error;
      await this.setAside(line, record.split('\t', 1)[0]);
    }
  }

  private async insert(records: Buffer): Promise<void> {
    try {
      await this.insertOnce(records);
    } catch (error) {
      if (!lacksPartition(error)) throw error;
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
        if (!lostRace(error) || attempt === RACES) throw error;
      }
    }
  }

  /** Kept for a person to look at, beside the journal. */
  private async setAside(line: Buffer, id: string | null = null): Promise<void> {
    await appendFile(this.rejectedPath, Buffer.concat([line, LINE_END]), { mode: 0o600 });
    this.logger.error({ record: id }, 'a record of usage is not storable');
  }
}

/** When the records were; without those whose time is not one that a partition is made for. */
function timesOf(records: Buffer): Date[] {
  const lines = records.toString().split('\n');
  const times = lines.map((line) => new Date(line.split('\t', 2)[1] ?? NaN));
  return times.filter((time) => time.getUTCFullYear() >= 2000 && time.getUTCFullYear() <= 9999);
}
