import type { Interval } from './usage-calendar.js';
import { GROUPINGS } from './usage-query.js';
import type { Grouping, UsageFilters } from './usage-query.js';

/** Whose usage: all that a person's keys have used, or all keys of an organization. */
export type UsageOwner = { readonly userId: string } | { readonly organizationId: number };

/** The column that usage is filtered and grouped by, and its type. */
const COLUMNS: Record<Grouping, readonly [column: string, type: string]> = {
  model: ['model', 'text'],
  provider: ['provider', 'text'],
  upstream: ['upstream_id', 'bigint'],
  key: ['key_id', 'bigint'],
  user: ['user_id', 'text'],
  status: ['status', 'integer'],
};

/** What groups are told apart by. */
export const columnOf = (name: Grouping): string => COLUMNS[name][0];

/** The conditions that choose records or roll-ups, and the values in them. */
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
      const [column, type] = COLUMNS[name];
      const wanted = filters[name];
      if (wanted) this.common.push(`${column} = ANY (${this.add(wanted)}::${type}[])`);
    }
  }

  /** Takes a value, for what it is called in the statement. */
  add(value: unknown): string {
    return `$${this.values.push(value)}`;
  }

  /** Those of the owner that pass the filters and whose `column` is in the interval. */
  within({ from, to }: Interval, column: 'at' | 'start'): string {
    const range = [`${column} >= ${this.time(from)}`, `${column} < ${this.time(to)}`];
    return [...this.common, ...range].join(' AND ');
  }

  private time(time: Date): string {
    return `${this.add(time.toISOString())}::timestamptz`;
  }
}
