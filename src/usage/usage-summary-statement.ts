import { bucketOf, countOf, elementOf, middleOf } from './histogram.js';
import { piecesOf } from './usage-calendar.js';
import type { Interval } from './usage-calendar.js';
import type { Grouping, UsageQuery } from './usage-query.js';
import { Conditions } from './usage-selection.js';
import type { UsageOwner } from './usage-selection.js';

/** A statement with its values. */
export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** The columns that tell groups apart. */
export const GROUP_COLUMNS: Record<Grouping, string> = {
  model: 'model',
  provider: 'provider',
  upstream: 'upstream_id',
  key: 'key_id',
  user: 'user_id',
  status: 'status',
};
const TOKENS = ['input_tokens', 'cached_input_tokens', 'output_tokens', 'total_tokens'];
const SUMS = ['requests', 'errors', ...TOKENS, 'latency_ms', 'ttft_ms', 'ttft_requests'];
const DIMENSIONS = 'model, provider, upstream_id, upstream_name, key_id, user_id, status';

const SOURCE = `time, bucket, ${DIMENSIONS}, ${SUMS.join(', ')}, latency_histogram, ttft_histogram`;

/** One row of the answer: all of it, one bucket of time, or one group in a bucket. */
export interface SummaryRow {
  readonly level: 'totals' | 'bucket' | 'group';
  /** The beginning of the bucket; null for the totals. */
  readonly bucket: string | null;
  readonly model?: string | null;
  readonly provider?: string | null;
  readonly upstream_id?: number | null;
  /** Its name on the last of the days, as it may have been renamed. */
  readonly upstream_name?: string | null;
  readonly key_id?: number;
  readonly user_id?: string;
  readonly status?: number;
  readonly requests: number;
  readonly errors: number;
  readonly input_tokens: number | null;
  readonly cached_input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly total_tokens: number | null;
  readonly latency_avg: number | null;
  readonly latency_p50: number | null;
  readonly latency_p95: number | null;
  readonly ttft_avg: number | null;
  readonly ttft_p50: number | null;
  readonly ttft_p95: number | null;
}

/**
 * Sums and percentiles of totals, buckets and groups in one statement, and so of one moment. The histograms of
 * all roll-ups and records of a set are added up; a percentile is the middle of the bucket that the value of its
 * rank (the smallest of which at least 50 or 95 % are no larger) is in.
 */
export function summaryStatement(owner: UsageOwner, query: UsageQuery, maxRows: number): Statement {
  const conditions = new Conditions(owner, query.filters);
  const groups = query.groupBy.map((name) => GROUP_COLUMNS[name]);
  const names = groups.includes('upstream_id') ? ['upstream_name'] : [];
  const text = `
    WITH source (${SOURCE}) AS (${sources(query, conditions)}),
    sums AS (${sums(groups)}),
    ${percentiles(groups)}
    SELECT members[1] AS level, ${['bucket', ...groups, ...names].join(', ')},
      coalesce(requests, 0)::bigint AS requests, coalesce(errors, 0)::bigint AS errors,
      ${TOKENS.map((name) => `${name}::bigint`).join(', ')},
      ${rounded('latency_ms / requests')} AS latency_avg, latency_p50, latency_p95,
      ${rounded('ttft_ms / nullif(ttft_requests, 0)')} AS ttft_avg, ttft_p50, ttft_p95
    FROM sums LEFT JOIN percentiles USING (members)
    ORDER BY bucket NULLS FIRST, members[1], requests DESC, members
    LIMIT ${maxRows}`;
  return { text, values: conditions.values };
}

/** All that is counted, with the bucket of time that it is in; a record looks like a roll-up of one. */
function sources(query: UsageQuery, conditions: Conditions): string {
  const { days, hours, records } = piecesOf(query);
  const rollups = (granularity: string) => (interval: Interval) => `
    SELECT start, date_trunc('${query.bucket}', start), ${DIMENSIONS},
      ${SUMS.join(', ')}, latency_histogram, ttft_histogram
    FROM usage_rollups WHERE granularity = '${granularity}' AND ${conditions.within(interval, 'start')}`;
  const single = (interval: Interval) => `
    SELECT at, date_trunc('${query.bucket}', at), ${DIMENSIONS},
      1, (outcome <> 'ok')::integer, ${TOKENS.join(', ')}, latency_ms, ttft_ms, (ttft_ms IS NOT NULL)::integer,
      ARRAY[${elementOf('latency_ms')}], CASE WHEN ttft_ms IS NOT NULL THEN ARRAY[${elementOf('ttft_ms')}] END
    FROM usage_records WHERE ${conditions.within(interval, 'at')}`;
  return [...days.map(rollups('day')), ...hours.map(rollups('hour')), ...records.map(single)].join(
    ' UNION ALL ',
  );
}

function sums(groups: string[]): string {
  const name = groups.includes('upstream_id')
    ? ', (max(ARRAY[time::text, upstream_name]))[2] AS upstream_name'
    : '';
  return `
    SELECT ${membersOf(groups)}, ${['bucket', ...groups].join(', ')},
      ${SUMS.map((column) => `sum(${column}) AS ${column}`).join(', ')}${name}
    FROM source GROUP BY GROUPING SETS (${setsOf(groups, [])})`;
}

/** In three steps, so that the elements of all histograms are gone through once. */
function percentiles(groups: string[]): string {
  const columns = ['bucket', ...groups, 'metric', 'step'].join(', ');
  return `
    counts AS (
      SELECT ${['bucket', ...groups].join(', ')}, metric, ${bucketOf('element')} AS step,
        sum(${countOf('element')}::integer)::double precision AS count
      FROM source CROSS JOIN LATERAL (
        SELECT 'latency' AS metric, unnest(latency_histogram) AS element
        UNION ALL SELECT 'ttft', unnest(ttft_histogram)) AS histograms
      GROUP BY ${columns}
    ),
    steps AS (
      SELECT ${membersOf(groups)}, metric, step, sum(count) AS count
      FROM counts GROUP BY GROUPING SETS (${setsOf(groups, ['metric', 'step'])})
    ),
    ranks AS (
      SELECT members, metric, step, sum(count) OVER (PARTITION BY members, metric ORDER BY step) AS up_to,
        sum(count) OVER (PARTITION BY members, metric) AS total
      FROM steps
    ),
    percentiles AS (
      SELECT members, ${percentile('latency', 50)}, ${percentile('latency', 95)},
        ${percentile('ttft', 50)}, ${percentile('ttft', 95)}
      FROM ranks GROUP BY members
    )`;
}

function percentile(metric: string, percent: number): string {
  const value = `min(${middleOf('step')}) FILTER (WHERE metric = '${metric}' AND up_to * 100 >= total * ${percent})`;
  return `${rounded(value)} AS ${metric}_p${percent}`;
}

/** To a microsecond. */
const rounded = (milliseconds: string): string => `round((${milliseconds})::numeric, 3)::double precision`;

/** What tells the sets of a grouping apart: the level, the bucket, the group's columns. */
function membersOf(groups: string[]): string {
  const last = groups.length > 0 ? `WHEN GROUPING(${groups[0]}) = 0 THEN 'group'` : '';
  const level = `CASE WHEN GROUPING(bucket) = 1 THEN 'totals' ${last} ELSE 'bucket' END`;
  return `ARRAY[${[level, ...['bucket', ...groups].map((column) => `${column}::text`)].join(', ')}] AS members`;
}

function setsOf(groups: string[], also: string[]): string {
  const sets = [[], ['bucket'], ...(groups.length > 0 ? [['bucket', ...groups]] : [])];
  return sets.map((set) => `(${[...set, ...also].join(', ')})`).join(', ');
}
