import { elementOf, sumOf } from './histogram.js';

/** The columns of a record and their types, as they are in its JSON. */
const COLUMNS = {
  id: 'uuid',
  at: 'timestamptz',
  request_id: 'text',
  organization_id: 'bigint',
  user_id: 'text',
  key_id: 'bigint',
  upstream_id: 'bigint',
  upstream_name: 'text',
  provider: 'text',
  method: 'text',
  path: 'text',
  model: 'text',
  stream: 'boolean',
  status: 'integer',
  outcome: 'text',
  input_tokens: 'bigint',
  cached_input_tokens: 'bigint',
  output_tokens: 'bigint',
  total_tokens: 'bigint',
  usage_source: 'text',
  latency_ms: 'double precision',
  ttft_ms: 'double precision',
  attempts: 'json',
};
const NAMES = Object.keys(COLUMNS).join(', ');
const FIELDS = Object.entries(COLUMNS)
  .map(([name, type]) => `${name} ${type}`)
  .join(', ');

/** What a roll-up is one of for each, beside organization and time. */
const DETAILS = 'user_id, key_id, upstream_id, upstream_name, provider, model, status';
const KEY = `organization_id, granularity, start, ${DETAILS}`;
const TOKENS = ['input_tokens', 'cached_input_tokens', 'output_tokens', 'total_tokens'];

const sumAs = (column: string): string => `sum(${column}) AS ${column}`;

/** The sum of what is known; null when neither is. */
const plus = (column: string): string =>
  `${column} = coalesce(r.${column} + excluded.${column}, r.${column}, excluded.${column})`;

/**
 * Writes the records of a JSON array ($1) from a time on ($2: earlier ones are past their retention) and adds
 * those that were not there yet to the roll-ups, in one statement: the two always agree, and a record that is
 * written twice counts once. Days and months are sums of the hours, which nearly always is one. Roll-ups are
 * locked in one order, so that replicas do not block each other.
 */
export const WRITE_RECORDS = {
  name: 'usage.write',
  text: `
    WITH written AS (
      INSERT INTO usage_records (${NAMES})
      SELECT ${NAMES} FROM json_to_recordset($1::json) AS batch (${FIELDS})
      WHERE at >= $2::timestamptz
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
