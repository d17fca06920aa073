import { elementOf, sumOf } from './histogram.js';
import { COLUMN_NAMES, COLUMNS, FREE_TEXTS, TOKENS } from './record-columns.js';
import { retainedFrom } from './usage-partitions.js';

// Written with E, so that they are the same whatever `standard_conforming_strings` is.
const TAB = String.raw`E'\t'`;
const LINE_END = String.raw`E'\n'`;
const NULL = String.raw`E'\\N'`;
const BACKSLASH = String.raw`E'\\'`;

const NAMES = COLUMN_NAMES.join(', ');
const FIELDS = Object.entries(COLUMNS).map(([name, type], i) => fieldOf(name, type, `f[${i + 1}]`));
const AT = FIELDS[COLUMN_NAMES.indexOf('at')]!;

function fieldOf(name: string, type: string, field: string): string {
  if (name === 'attempts') return `CASE WHEN cardinality(f) = ${COLUMN_NAMES.length} THEN ${field}::json END`;
  if (!FREE_TEXTS.includes(name)) return `${field}::${type}`;
  const unescaped = `('"' || ${field} || '"')::json #>> '{}'`;
  return `CASE WHEN position(${BACKSLASH} IN ${field}) > 0 THEN ${unescaped} ELSE ${field} END`;
}

/** What a roll-up is one of for each, beside organization and time. */
const DETAILS = 'user_id, key_id, upstream_id, upstream_name, provider, model, status';
const KEY = `organization_id, granularity, start, ${DETAILS}`;

const sumAs = (column: string): string => `sum(${column}) AS ${column}`;

/** The sum of what is known; null when neither is. */
const plus = (column: string): string =>
  `${column} = coalesce(r.${column} + excluded.${column}, r.${column}, excluded.${column})`;

/**
 * Writes the records of lines ($1) unless they are past their retention ($2: months, or null) and adds those that were
 * not there yet to the roll-ups, in one statement: the two always agree, and a record that is written twice counts
 * once. Days and months are sums of the hours, which nearly always is one. Roll-ups are locked in one order, so that
 * replicas do not block each other.
 *
 * A line is taken apart once (`OFFSET 0`: not anew for each column). One with too few fields or too many is refused, as
 * its attempts are null then; and one without a time, as it is let through to where that must not be null.
 */
export const WRITE_RECORDS = {
  name: 'usage.write',
  text: `
    WITH written AS (
      INSERT INTO usage_records (${NAMES})
      SELECT ${FIELDS.join(', ')}
      FROM (
        SELECT string_to_array(line, ${TAB}, ${NULL}) AS f FROM string_to_table($1::text, ${LINE_END}) AS line OFFSET 0
      ) AS lines
      WHERE (${AT} < (SELECT ${retainedFrom('$2')})) IS NOT TRUE
      ON CONFLICT (organization_id, at, id) DO NOTHING
      RETURNING at, organization_id, ${DETAILS}, outcome, ${TOKENS.join(', ')}, latency_ms, ttft_ms
    ), hours AS (
      SELECT date_trunc('hour', at) AS hour, organization_id, ${DETAILS},
        max(at) AS last_at, count(*) AS requests, count(*) FILTER (WHERE outcome <> 'ok') AS errors,
        ${TOKENS.map(sumAs).join(', ')},
        ${sumAs('latency_ms')}, ${sumAs('ttft_ms')}, count(ttft_ms) AS ttft_requests,
        array_agg(${elementOf('latency', 'latency_ms')})
          || array_agg(${elementOf('ttft', 'ttft_ms')}) FILTER (WHERE ttft_ms IS NOT NULL) AS histogram
      FROM written GROUP BY hour, organization_id, ${DETAILS}
    )
    INSERT INTO usage_rollups AS r (${KEY}, last_at, requests, errors, ${TOKENS.join(', ')},
      latency_ms, ttft_ms, ttft_requests, histogram)
    SELECT organization_id, granularity, date_trunc(granularity, hour) AS start, ${DETAILS},
      max(last_at), sum(requests), sum(errors), ${TOKENS.map((column) => `sum(${column})`).join(', ')},
      sum(latency_ms), sum(ttft_ms), sum(ttft_requests), usage_histogram_agg(histogram)
    FROM hours CROSS JOIN (VALUES ('hour'), ('day'), ('month')) AS g (granularity)
    GROUP BY ${KEY} ORDER BY ${KEY}
    ON CONFLICT (${KEY}) DO UPDATE SET
      last_at = greatest(r.last_at, excluded.last_at),
      requests = r.requests + excluded.requests,
      errors = r.errors + excluded.errors,
      ${TOKENS.map(plus).join(', ')},
      latency_ms = r.latency_ms + excluded.latency_ms,
      ${plus('ttft_ms')},
      ttft_requests = r.ttft_requests + excluded.ttft_requests,
      histogram = ${sumOf('r.histogram', 'excluded.histogram')}`,
};
