import { Injectable } from '@nestjs/common';
import { UsersService } from '../../auth/users.service.js';
import { KeysService } from '../../keys/keys.service.js';
import {
  UsageIntervalResponse,
  UsageGroupResponse,
  UsageMeasures,
  UsageResponse,
} from './dto/usage.response.js';
import type { GroupNames } from './dto/usage.response.js';
import { BoundedQueries } from './bounded-queries.js';
import { bucketsOf } from './usage-calendar.js';
import type { Interval } from './usage-calendar.js';
import type { UsageOwner } from './usage-owner.js';
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

/** Limit of the rows of a summary, including the row of the totals. */
const MAX_ROWS = 1 + MAX_BUCKETS + MAX_GROUPS;
/** JIT compilation takes longer than it saves. The histograms of a year must fit into `work_mem`. */
const QUERY_SETTINGS = "SET LOCAL jit = off; SET LOCAL work_mem = '64MB'";

/** Summaries of usage. */
@Injectable()
export class UsageSummaryService {
  constructor(
    private readonly queries: BoundedQueries,
    private readonly keys: KeysService,
    private readonly users: UsersService,
  ) {}

  /** @throws TooManyBuckets @throws TooManyGroups @throws SummaryTakesTooLong */
  async summarize(owner: UsageOwner, query: UsageQuery): Promise<UsageResponse> {
    const buckets = bucketsOf(query, MAX_BUCKETS);
    if (!buckets) throw new TooManyBuckets();
    const rows = await this.rows(owner, query);
    const names = await this.findNames(rows, query);
    const [totals] = rows.filter(({ level }) => level === 'totals');
    return {
      from: query.from.toISOString(),
      to: query.to.toISOString(),
      bucket: query.bucket,
      totals: UsageMeasures.from(totals),
      buckets: withEmptyBuckets(buckets, rows, names),
    };
  }

  private async rows(owner: UsageOwner, query: UsageQuery): Promise<SummaryRow[]> {
    const bounded = { owner, ...summaryStatement(owner, query, MAX_ROWS + 1), settings: QUERY_SETTINGS };
    const rows = await this.queries.run<SummaryRow>(bounded, SummaryTakesTooLong);
    if (rows.filter(({ level }) => level === 'group').length <= MAX_GROUPS) return rows;
    throw new TooManyGroups();
  }

  /** Finds the present names of keys and users. Deleted ones have no name. */
  private async findNames(rows: SummaryRow[], { groupBy }: UsageQuery): Promise<GroupNames> {
    const all = <T>(name: keyof SummaryRow) => [
      ...new Set(rows.filter(({ level }) => level === 'group').map((row) => row[name] as T)),
    ];
    const [keys, users] = await Promise.all([
      groupBy.includes('key') ? this.keys.findNames(all<number>('key_id')) : new Map<number, string>(),
      groupBy.includes('user') ? this.users.findEmails(all<string>('user_id')) : new Map<string, string>(),
    ]);
    return { keys, users };
  }
}

function withEmptyBuckets(
  buckets: Interval[],
  rows: SummaryRow[],
  names: GroupNames,
): UsageIntervalResponse[] {
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
