import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { UsersService } from '../auth/users.service.js';
import { KeysService } from '../keys/keys.service.js';
import {
  UsageIntervalResponse,
  UsageGroupResponse,
  UsageMeasures,
  UsageResponse,
} from './dto/usage.response.js';
import type { GroupNames } from './dto/usage.response.js';
import { timelyRows } from './timely-rows.js';
import { bucketsOf } from './usage-calendar.js';
import type { Interval } from './usage-calendar.js';
import type { UsageOwner } from './usage-conditions.js';
import type { UsageQuery } from './usage-query.js';
import { summaryStatement } from './usage-summary-statement.js';
import type { SummaryRow } from './usage-summary-statement.js';
import {
  MAX_BUCKETS,
  MAX_GROUPS,
  SummaryTakesTooLong,
  TooManyBuckets,
  TooManyGroups,
} from './usage.errors.js';

/** Of an answer that is not too long: with one for the totals. */
const MAX_ROWS = 1 + MAX_BUCKETS + MAX_GROUPS;
/** Compiling takes longer than it saves, and histograms of a year are to stay in memory. */
const QUERY_SETTINGS = "SET LOCAL jit = off; SET LOCAL work_mem = '64MB'";

/** Sums up what was used. */
@Injectable()
export class UsageSummaryService {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly keys: KeysService,
    private readonly users: UsersService,
  ) {}

  /** @throws TooManyBuckets @throws TooManyGroups @throws SummaryTakesTooLong */
  async summarize(owner: UsageOwner, query: UsageQuery): Promise<UsageResponse> {
    const buckets = bucketsOf(query, MAX_BUCKETS);
    if (!buckets) throw new TooManyBuckets();
    const rows = await this.rows(owner, query);
    const names = await this.namesIn(rows, query);
    const [totals] = rows.filter(({ level }) => level === 'totals');
    return {
      from: query.from.toISOString(),
      to: query.to.toISOString(),
      bucket: query.bucket,
      totals: UsageMeasures.from(totals),
      buckets: withEmptyOnes(buckets, rows, names),
    };
  }

  private async rows(owner: UsageOwner, query: UsageQuery): Promise<SummaryRow[]> {
    const question = { owner, ...summaryStatement(owner, query, MAX_ROWS + 1) };
    const rows = await timelyRows<SummaryRow>(this.dataSource, question, SummaryTakesTooLong, QUERY_SETTINGS);
    if (rows.filter(({ level }) => level === 'group').length <= MAX_GROUPS) return rows;
    throw new TooManyGroups();
  }

  /** The names of keys and people as they are now; those of whom nothing is known any more have none. */
  private async namesIn(rows: SummaryRow[], { groupBy }: UsageQuery): Promise<GroupNames> {
    const all = <T>(name: keyof SummaryRow) => [
      ...new Set(rows.filter(({ level }) => level === 'group').map((row) => row[name] as T)),
    ];
    const [keys, users] = await Promise.all([
      groupBy.includes('key') ? this.keys.names(all<number>('key_id')) : new Map<number, string>(),
      groupBy.includes('user') ? this.users.emails(all<string>('user_id')) : new Map<string, string>(),
    ]);
    return { keys, users };
  }
}

function withEmptyOnes(buckets: Interval[], rows: SummaryRow[], names: GroupNames): UsageIntervalResponse[] {
  const measured = new Map<string, { own?: SummaryRow; groups: UsageGroupResponse[] }>();
  for (const row of rows) {
    if (row.bucket === null) continue;
    const entry = measured.get(row.bucket) ?? { groups: [] };
    measured.set(row.bucket, entry);
    if (row.level === 'bucket') entry.own = row;
    else entry.groups.push(UsageGroupResponse.named(row, names));
  }
  return buckets.map(({ from, to }) => {
    const { own, groups = [] } = measured.get(from.toISOString()) ?? {};
    return { start: from.toISOString(), end: to.toISOString(), ...UsageMeasures.from(own), groups };
  });
}
