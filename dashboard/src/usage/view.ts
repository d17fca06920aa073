/** State of the usage page, which is part of the URL. */
export interface UsageView {
  readonly range: Range;
  readonly group: Group;
  readonly metric: Metric;
  readonly tab: 'charts' | 'requests';
  /** Filters of the request list. */
  readonly onlyErrors: boolean;
  readonly filters: Filters;
}

/** Length of the time range that ends now. */
export type Range = '24h' | '7d' | '30d' | '90d';
/** Values that the listed requests have: names or ids, as the group has them. */
type Filters = Readonly<Partial<Record<Filter, string>>>;

/** Property that the listed requests are filtered by. */
export type Filter = (typeof FILTERS)[number];
/** Property that the usage is grouped by. */
export type Group = 'model' | 'upstream' | 'key' | 'user' | 'provider';
/** Figure that the chart shows. */
export type Metric = 'requests' | 'tokens' | 'cost' | 'errors' | 'latency';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const LENGTHS: Record<Range, number> = {
  '24h': DAY_MS,
  '7d': 7 * DAY_MS,
  '30d': 30 * DAY_MS,
  '90d': 90 * DAY_MS,
};
const GROUPS: readonly Group[] = ['model', 'upstream', 'key', 'user', 'provider'];
const METRICS: readonly Metric[] = ['requests', 'tokens', 'cost', 'errors', 'latency'];
/** Filters, which are also search parameters of the URL. */
export const FILTERS = ['model', 'upstream', 'key', 'user'] as const;
const ID = /^\d+$/;

/** Reads the state of the URL. Unknown values become the usual ones. */
export function parseUsageView(search: Readonly<Record<string, unknown>>): UsageView {
  const pick = <T extends string>(name: string, values: readonly T[], fallback: T): T =>
    values.find((value) => value === search[name]) ?? fallback;
  return {
    range: pick('range', Object.keys(LENGTHS) as Range[], '30d'),
    group: pick('group', GROUPS, 'model'),
    metric: pick('metric', METRICS, 'requests'),
    tab: pick('tab', ['charts', 'requests'], 'charts'),
    onlyErrors: search.errors === 'true',
    filters: parseFilters(search),
  };
}

/** Ids that are no number are dropped, because the service rejects them. */
function parseFilters(search: Readonly<Record<string, unknown>>): Filters {
  const filters: Partial<Record<Filter, string>> = {};
  for (const name of FILTERS) {
    const value = search[name];
    const isId = name === 'upstream' || name === 'key';
    if (typeof value === 'string' && value !== '' && (!isId || ID.test(value))) filters[name] = value;
  }
  return filters;
}

/** Parameters of a query for a range that ends now. Full hours keep the query the same for a while. */
export function rangeQuery(range: Range, now: number): { from: string; to: string; bucket: 'hour' | 'day' } {
  const to = Math.ceil(now / HOUR_MS) * HOUR_MS;
  return {
    from: new Date(to - LENGTHS[range]).toISOString(),
    to: new Date(to).toISOString(),
    bucket: range === '24h' ? 'hour' : 'day',
  };
}
