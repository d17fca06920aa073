import { USAGE_FIELDS } from '../record/usage-record.js';
import type { UsageFieldName } from '../record/usage-record.js';
import type { Interval } from './usage-calendar.js';
import type { UsageOwner } from './usage-owner.js';
import { GROUPINGS } from './usage-query.js';
import type { Grouping, UsageFilters } from './usage-query.js';

/** Column of each filter. */
const COLUMNS: Record<Grouping, UsageFieldName> = {
  model: 'model',
  provider: 'provider',
  upstream: 'upstream_id',
  key: 'key_id',
  user: 'user_id',
  status: 'status',
};

/** The column that distinguishes the groups. */
export const columnOf = (name: Grouping): string => COLUMNS[name];

/** Conditions that select records or roll-ups, and their parameter values. */
export class Conditions {
  readonly values: unknown[] = [];
  private readonly common: string[];

  constructor(owner: UsageOwner, filters: UsageFilters) {
    this.common = [
      'userId' in owner
        ? `user_id = ${this.add(owner.userId)}`
        : `organization_id = ${this.add(owner.organizationId)}::bigint`,
    ];
    for (const name of GROUPINGS) {
      const column = COLUMNS[name];
      const wanted = filters[name];
      if (wanted)
        this.common.push(`${column} = ANY (${this.add(wanted)}::${USAGE_FIELDS[column].sqlType}[])`);
    }
  }

  /** Adds a parameter value. @returns its placeholder in the statement */
  add(value: unknown): string {
    return `$${this.values.push(value)}`;
  }

  /** Selects the owner's rows that pass the filters and whose `column` is in the interval. */
  within({ from, to }: Interval, column: 'at' | 'start'): string {
    const range = [`${column} >= ${this.time(from)}`, `${column} < ${this.time(to)}`];
    return [...this.common, ...range].join(' AND ');
  }

  private time(time: Date): string {
    return `${this.add(time.toISOString())}::timestamptz`;
  }
}
