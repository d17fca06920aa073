import { elementOf, sumOf } from '../record/histogram.js';
import {
  DEFAULTS,
  DIMENSIONS,
  FIRST_FIELDS,
  ROLLUP_SUMS,
  SUMMED_NAMES,
  USAGE_FIELD_NAMES,
  USAGE_FIELDS,
} from '../record/usage-record.js';
import type { UsageFieldName } from '../record/usage-record.js';
import { retainedFrom } from './usage-partitions.js';

// E'' strings mean the same with every value of `standard_conforming_strings`.
const TAB = String.raw`E'\t'`;
const LINE_END = String.raw`E'\n'`;
const NULL = String.raw`E'\\N'`;
const BACKSLASH = String.raw`E'\\'`;

const FIELDS = USAGE_FIELD_NAMES.map((name, i) => parsedField(name, `f[${i + 1}]`));
const AT = FIELDS[USAGE_FIELD_NAMES.indexOf('at')]!;

const DIMENSION_LIST = DIMENSIONS.join(', ');
const KEY = `organization_id, granularity, start, ${DIMENSION_LIST}`;

/**
 * Adds the tokens of the new records to the second in which their requests ended, for the limits of tokens. Only the last
 * minute counts, so older records are left out.
 */
const ADD_RECENT = `
  INSERT INTO usage_recent AS u (organization_id, second, user_id, key_id, tokens)
  SELECT organization_id, date_trunc('second', at + make_interval(secs => latency_ms / 1000)) AS second, user_id, key_id,
    sum(total_tokens)
  FROM written
  WHERE total_tokens > 0 AND at + make_interval(secs => latency_ms / 1000) > now() - interval '1 minute'
  GROUP BY organization_id, second, user_id, key_id ORDER BY organization_id, second, user_id, key_id
  ON CONFLICT (organization_id, second, user_id, key_id) DO UPDATE SET tokens = u.tokens + excluded.tokens`;

/**
 * Inserts the records of journal lines ($1) and adds the new ones to the roll-ups. Records past their retention ($2:
 * months, or null) are dropped. One statement does both, so that records and roll-ups always agree and a record that is
 * written twice counts once. Days and months are sums of the hours of the batch, which is nearly always one hour.
 * Roll-ups are locked in one order, so that replicas do not deadlock.
 *
 * `OFFSET 0` makes PostgreSQL split each line once instead of once per column. A line with a wrong number of fields is
 * rejected, because its attempts become null. So is a line without a time, because the time must not be null.
 */
export const WRITE_RECORDS = {
  name: 'usage.write',
  text: `
    WITH written AS (
      INSERT INTO usage_records (${USAGE_FIELD_NAMES.join(', ')})
      SELECT ${FIELDS.join(', ')}
      FROM (
        SELECT string_to_array(line, ${TAB}, ${NULL}) AS f FROM string_to_table($1::text, ${LINE_END}) AS line OFFSET 0
      ) AS lines
      WHERE (${AT} < (SELECT ${retainedFrom('$2')})) IS NOT TRUE
      ON CONFLICT (organization_id, at, id) DO NOTHING
      RETURNING at, organization_id, ${DIMENSION_LIST}, outcome, ${SUMMED_NAMES.join(', ')}, latency_ms, ttft_ms
    ), recent AS (${ADD_RECENT}), hours AS (
      SELECT date_trunc('hour', at) AS hour, organization_id, ${DIMENSION_LIST},
        max(at) AS last_at, count(*) AS requests, count(*) FILTER (WHERE outcome <> 'ok') AS errors,
        count(cost_usd) AS priced_requests,
        ${SUMMED_NAMES.map(sumAs).join(', ')},
        ${sumAs('latency_ms')}, ${sumAs('ttft_ms')}, count(ttft_ms) AS ttft_requests,
        array_agg(${elementOf('latency', 'latency_ms')})
          || array_agg(${elementOf('ttft', 'ttft_ms')}) FILTER (WHERE ttft_ms IS NOT NULL) AS histogram
      FROM written GROUP BY hour, organization_id, ${DIMENSION_LIST}
    )
    INSERT INTO usage_rollups AS r (${KEY}, last_at, ${ROLLUP_SUMS.join(', ')}, histogram)
    SELECT organization_id, granularity, date_trunc(granularity, hour) AS start, ${DIMENSION_LIST},
      max(last_at), ${ROLLUP_SUMS.map((column) => `sum(${column})`).join(', ')}, usage_histogram_agg(histogram)
    FROM hours CROSS JOIN (VALUES ('hour'), ('day'), ('month')) AS g (granularity)
    GROUP BY ${KEY} ORDER BY ${KEY}
    ON CONFLICT (${KEY}) DO UPDATE SET
      last_at = greatest(r.last_at, excluded.last_at),
      requests = r.requests + excluded.requests,
      errors = r.errors + excluded.errors,
      priced_requests = r.priced_requests + excluded.priced_requests,
      ${SUMMED_NAMES.map(plus).join(', ')},
      latency_ms = r.latency_ms + excluded.latency_ms,
      ${plus('ttft_ms')},
      ttft_requests = r.ttft_requests + excluded.ttft_requests,
      histogram = ${sumOf('r.histogram', 'excluded.histogram')}`,
};

/** SQL: the value of a field of the line. */
function parsedField(name: UsageFieldName, field: string): string {
  const { encoding, sqlType } = USAGE_FIELDS[name];
  if (encoding === 'attempts')
    return `CASE WHEN cardinality(f) IN (${FIRST_FIELDS}, ${USAGE_FIELD_NAMES.length}) THEN ${field}::${sqlType} END`;
  const fallback = DEFAULTS[name];
  if (fallback !== undefined) return `coalesce(${field}::${sqlType}, ${fallback})`;
  if (encoding !== 'escaped') return `${field}::${sqlType}`;
  const unescaped = `('"' || ${field} || '"')::json #>> '{}'`;
  return `CASE WHEN position(${BACKSLASH} IN ${field}) > 0 THEN ${unescaped} ELSE ${field} END`;
}

function sumAs(column: string): string {
  return `sum(${column}) AS ${column}`;
}

/** SQL: adds the new sum to the present one; null only while both are. */
function plus(column: string): string {
  return `${column} = coalesce(r.${column} + excluded.${column}, r.${column}, excluded.${column})`;
}
