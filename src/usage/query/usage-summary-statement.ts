import { countOf, elementOf, isOf, middleOf, stepOf } from '../record/histogram.js';
import type { Metric } from '../record/histogram.js';
import { DIMENSIONS, ROLLUP_SUMS, SUMMED_NAMES, USAGE_FIELDS } from '../record/usage-record.js';
import type { UsageSums } from '../record/usage-record.js';
import { piecesOf } from './usage-calendar.js';
import { columnOf, Conditions } from './usage-conditions.js';
import type { UsageOwner } from './usage-owner.js';
import { BUCKETS } from './usage-query.js';
import type { Bucket, UsageQuery } from './usage-query.js';

/** A statement with its values. */
export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

const DIMENSION_LIST = DIMENSIONS.join(', ');

const SOURCE = `last_at, bucket, ${DIMENSION_LIST}, ${ROLLUP_SUMS.join(', ')}, histogram`;

/** Row of a summary: the totals, a bucket of time, or a group in a bucket. */
export interface SummaryRow extends UsageSums {
  readonly level: 'totals' | 'bucket' | 'group';
  /** The beginning of the bucket; null for the totals. */
  readonly bucket: string | null;
  readonly model?: string | null;
  readonly provider?: string | null;
  readonly upstream_id?: number | null;
  /** Most recent name of the upstream. */
  readonly upstream_name?: string | null;
  readonly key_id?: number;
  readonly user_id?: string;
  readonly status?: number;
  readonly requests: number;
  readonly errors: number;
  readonly unpriced_requests: number;
  readonly latency_avg: number | null;
  readonly latency_p50: number | null;
  readonly latency_p95: number | null;
  readonly ttft_avg: number | null;
  readonly ttft_p50: number | null;
  readonly ttft_p95: number | null;
}

/**
 * Computes the sums and percentiles of totals, buckets and groups in one statement, and thus in one snapshot. Buckets and
 * groups are numbered before the histograms are unpacked: there are millions of elements, and numbers compare quickly.
 *
 * The histograms of all roll-ups and records of a set are added. A percentile is the middle of the step that contains the
 * value of its rank. That is the smallest value that is no less than 50 or 95 % of the values.
 */
export function summaryStatement(owner: UsageOwner, query: UsageQuery, maxRows: number): Statement {
  const conditions = new Conditions(owner, query.filters);
  const groups = query.groupBy.map(columnOf);
  const columns = ['bucket', ...groups];
  const names = groups.includes('upstream_id') ? ['upstream_name'] : [];
  const text = `
    WITH source (${SOURCE}) AS (${sources(query, conditions)}),
    numbered AS (
      SELECT *, (dense_rank() OVER (ORDER BY bucket))::integer AS bucket_number,
        (dense_rank() OVER (ORDER BY ${columns.join(', ')}))::integer AS group_number
      FROM source
    ),
    sums AS (${sums(groups)}),
    ${percentiles(groups)}
    SELECT ${levelOf('member')} AS level, ${[...columns, ...names].join(', ')},
      coalesce(requests, 0)::bigint AS requests, coalesce(errors, 0)::bigint AS errors,
      coalesce(unpriced_requests, 0)::bigint AS unpriced_requests,
      ${SUMMED_NAMES.map((name) => `${name}::${USAGE_FIELDS[name].sqlType}`).join(', ')},
      ${rounded('latency_ms / requests')} AS latency_avg, latency_p50, latency_p95,
      ${rounded('ttft_ms / nullif(ttft_requests, 0)')} AS ttft_avg, ttft_p50, ttft_p95
    FROM sums LEFT JOIN percentiles USING (member)
    ORDER BY bucket NULLS FIRST, level, requests DESC, member
    LIMIT ${maxRows}`;
  return { text, values: conditions.values };
}

/** Selects roll-ups and records with their buckets of time. A record has the columns of a roll-up of one request. */
function sources(query: UsageQuery, conditions: Conditions): string {
  const pieces = piecesOf(query);
  const rollups = (granularity: Bucket) =>
    pieces[granularity].map(
      (interval) => `
    SELECT last_at, date_trunc('${query.bucket}', start), ${DIMENSION_LIST}, ${ROLLUP_SUMS.join(', ')}, histogram
    FROM usage_rollups WHERE granularity = '${granularity}' AND ${conditions.within(interval, 'start')}`,
    );
  const records = pieces.records.map(
    (interval) => `
    SELECT at, date_trunc('${query.bucket}', at), ${DIMENSION_LIST},
      1, (outcome <> 'ok')::integer, (cost_usd IS NOT NULL)::integer, ${SUMMED_NAMES.join(', ')}, latency_ms, ttft_ms, (ttft_ms IS NOT NULL)::integer,
      array_remove(ARRAY[${elementOf('latency', 'latency_ms')}, ${elementOf('ttft', 'ttft_ms')}], NULL)
    FROM usage_records WHERE ${conditions.within(interval, 'at')}`,
  );
  return [...BUCKETS.flatMap(rollups), ...records].join(' UNION ALL ');
}

function sums(groups: string[]): string {
  const name = groups.includes('upstream_id')
    ? ', (max(ARRAY[last_at::text, upstream_name]))[2] AS upstream_name'
    : '';
  return `
    SELECT ${memberOf(groups)}, ${['bucket', ...groups].join(', ')},
      ${ROLLUP_SUMS.map(sumOf).join(', ')},
      sum(CASE WHEN upstream_id IS NOT NULL THEN requests - priced_requests END) AS unpriced_requests${name}
    FROM numbered GROUP BY GROUPING SETS (${setsOf(groups)})`;
}

/** SQL: a sum. Costs are added exactly, which takes longer. */
function sumOf(column: string): string {
  return column === 'cost_usd'
    ? 'sum(cost_usd) AS cost_usd'
    : `sum(${column})::double precision AS ${column}`;
}

/**
 * Reads the elements of all histograms only once. The sums of a set contain the number of values of each metric. A
 * running count over all steps, latencies first, then finds the ranks of both metrics.
 *
 * Examples of rows of `steps`:
 *
 * | member | step | count | |
 * |---|---|---|---|
 * | 0 | 1158 | 7 | 7 of all requests took 491 to 511 ms |
 * | -2 | 1158 | 4 | 4 of them were in the second bucket |
 * | 5 | 11122 | 1 | 1 request of the fifth group, numbered across buckets, had its first token after 120 to 124 ms |
 */
function percentiles(groups: string[]): string {
  const ofGroups = groups.length > 0 ? 'SELECT group_number, step, count FROM counts UNION ALL' : '';
  return `
    counts AS (
      SELECT bucket_number, group_number, ${stepOf('element')} AS step, sum(${countOf('element')}) AS count
      FROM (SELECT bucket_number, group_number, unnest(histogram) AS element FROM numbered) AS elements
      GROUP BY 1, 2, 3
    ),
    bucket_counts AS (SELECT bucket_number, step, sum(count) AS count FROM counts GROUP BY 1, 2),
    steps (member, step, count) AS (
      ${ofGroups} SELECT -bucket_number, step, count FROM bucket_counts
      UNION ALL SELECT 0, step, sum(count) FROM bucket_counts GROUP BY step
    ),
    ranks AS (
      SELECT member, step, sum(count) OVER (PARTITION BY member ORDER BY step ROWS UNBOUNDED PRECEDING) AS up_to
      FROM steps
    ),
    wanted AS (
      SELECT member, latency_ms AS latency_sum, requests AS latency_count, ttft_ms AS ttft_sum,
        ttft_requests AS ttft_count, requests * 0.5 AS latency_50, requests * 95 / 100 AS latency_95,
        requests + ttft_requests * 0.5 AS ttft_50, requests + ttft_requests * 95 / 100 AS ttft_95
      FROM sums
    ),
    percentiles AS (
      SELECT member, ${percentile('latency', 50)}, ${percentile('latency', 95)},
        ${percentile('ttft', 50)}, ${percentile('ttft', 95)}
      FROM ranks JOIN wanted USING (member) GROUP BY member
    )`;
}

/** SQL: a percentile. With only one value it is that value, which is exact. */
function percentile(metric: Metric, percent: number): string {
  const step = `min(step) FILTER (WHERE up_to >= ${metric}_${percent} AND ${isOf(metric, 'step')})`;
  const isOne = `min(${metric}_count) = 1`;
  const value = `CASE WHEN ${isOne} THEN min(${metric}_sum) ELSE ${middleOf(metric, step)} END`;
  return `${rounded(value)} AS ${metric}_p${percent}`;
}

/** SQL: milliseconds, rounded to a microsecond. */
const rounded = (milliseconds: string): string => `round((${milliseconds})::numeric, 3)::double precision`;

/** SQL: the number of a set: 0 for the totals, negative for a bucket, positive for a group. */
function memberOf(groups: string[]): string {
  const group = groups.length > 0 ? 'WHEN GROUPING(group_number) = 0 THEN group_number' : '';
  return `CASE WHEN GROUPING(bucket_number) = 1 THEN 0 ${group} ELSE -bucket_number END AS member`;
}

const levelOf = (member: string): string =>
  `CASE sign(${member}) WHEN 0 THEN 'totals' WHEN 1 THEN 'group' ELSE 'bucket' END`;

/** SQL: grouping sets with the columns that belong to each number. */
function setsOf(groups: string[]): string {
  const bucket = 'bucket_number, bucket';
  const group = groups.length > 0 ? `, (${[bucket, 'group_number', ...groups].join(', ')})` : '';
  return `(), (${bucket})${group}`;
}
