import { Injectable, Logger } from '@nestjs/common';
import type { OnModuleInit } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { Settings } from '../../config/settings.js';
import { PARTITIONS_LOCK } from '../../database/transactions/advisory-locks.js';
import { Jobs } from '../../jobs/jobs.js';

/** Dropping a partition locks the table. The job tries again later rather than wait for a long query. */
const LOCK_TIMEOUT = '5s';
const MONTHS_AHEAD = 2;
const PARTITION = /^usage_records_(\d{4})_(\d\d)$/;

/** SQL: the start of the retention of so many months; null for null, which keeps all records. */
export const retainedFrom = (months: string): string =>
  `date_trunc('month', now()) - make_interval(months => ${months}::integer)`;

/**
 * Manages the monthly partitions (UTC) of the records. The start and a job create those of this month and the next two.
 * An older record from a journal creates its partition when it is written. The job drops partitions past
 * `USAGE_RETENTION_MONTHS` and keeps the roll-ups, which are small. The clock of the database counts: a replica whose
 * clock is ahead would drop every partition.
 */
@Injectable()
export class UsagePartitions implements OnModuleInit {
  private readonly logger = new Logger(UsagePartitions.name);

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly settings: Settings,
    jobs: Jobs,
  ) {
    jobs.add({ name: 'partition_usage', everySeconds: 600, work: () => this.run() });
  }

  async onModuleInit(): Promise<void> {
    await this.createAhead(await this.now());
  }

  async run(): Promise<void> {
    await this.createAhead(await this.now());
    for (const partition of await this.dropExpired()) this.logger.log({ partition }, 'dropped old usage');
  }

  /** Creates the partitions of a time and of the following months. */
  async createAhead(now: Date): Promise<void> {
    await this.create(Array.from({ length: MONTHS_AHEAD + 1 }, (_, i) => addMonths(startOfMonth(now), i)));
  }

  /** Creates the missing partitions of these times, except those past their retention. */
  async create(times: readonly Date[]): Promise<void> {
    const keptFrom = (await this.keptFrom()) ?? -Infinity;
    const kept = times.filter((time) => time >= keptFrom);
    const months = new Map(kept.map((time) => [nameOf(startOfMonth(time)), startOfMonth(time)]));
    await this.withLock(async (transaction) => {
      for (const [name, month] of months) {
        const [found] = await transaction.query<unknown[]>(
          'SELECT 1 WHERE to_regclass($1::text) IS NOT NULL',
          [name],
        );
        if (found) continue;
        // Unlike `CREATE TABLE ... PARTITION OF`, this lets inserts into the other partitions go on.
        await transaction.query(`CREATE TABLE ${name} (LIKE usage_records INCLUDING ALL)`);
        await transaction.query(
          `ALTER TABLE usage_records ATTACH PARTITION ${name}
           FOR VALUES FROM ('${month.toISOString()}') TO ('${addMonths(month, 1).toISOString()}')`,
        );
      }
    });
  }

  /** @returns the names of the dropped partitions */
  async dropExpired(): Promise<string[]> {
    const keptFrom = await this.keptFrom();
    if (!keptFrom) return [];
    return this.withLock(async (transaction) => {
      const rows = await transaction.query<{ name: string }[]>(
        `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'usage_records'::regclass`,
      );
      const expired = rows.map(({ name }) => name).filter((name) => isBefore(name, keptFrom));
      for (const name of expired) await transaction.query(`DROP TABLE ${name}`);
      return expired;
    });
  }

  private async now(): Promise<Date> {
    const [row] = await this.dataSource.query<{ now: string }[]>('SELECT now()');
    return new Date(row!.now);
  }

  /** Start of the retention; undefined if all records are kept. */
  private async keptFrom(): Promise<Date | undefined> {
    const { usageRetentionMonths: months } = this.settings;
    if (months === undefined) return undefined;
    const [row] = await this.dataSource.query<{ time: string }[]>(`SELECT ${retainedFrom('$1')} AS time`, [
      months,
    ]);
    return new Date(row!.time);
  }

  private withLock<T>(work: (transaction: EntityManager) => Promise<T>): Promise<T> {
    return this.dataSource.transaction(async (transaction) => {
      await transaction.query('SELECT pg_advisory_xact_lock($1)', [PARTITIONS_LOCK]);
      await transaction.query(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
      return work(transaction);
    });
  }
}

function nameOf(month: Date): string {
  return `usage_records_${month.toISOString().slice(0, 7).replace('-', '_')}`;
}

function isBefore(name: string, time: Date): boolean {
  const [, year, month] = PARTITION.exec(name) ?? [];
  return year !== undefined && Date.UTC(Number(year), Number(month) - 1) < time.getTime();
}

function startOfMonth(time: Date): Date {
  return new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth()));
}

function addMonths(month: Date, months: number): Date {
  return new Date(Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + months));
}
