import { stringify } from 'csv-stringify/sync';
import type { UsageRequestsResponse } from './dto/usage-requests.response.js';
import type { UsageIntervalResponse, UsageMeasures, UsageResponse } from './dto/usage.response.js';
import { RECORD_MEMBERS } from './usage-requests.service.js';
import type { Grouping } from './usage-query.js';

const GROUP_MEMBERS: Record<Grouping, readonly string[]> = {
  model: ['model'],
  provider: ['provider'],
  upstream: ['upstream_id', 'upstream_name'],
  key: ['key_id', 'key_name'],
  user: ['user_id', 'user_email'],
  status: ['status'],
};
const MEASURES = [
  ...['requests', 'errors', 'input_tokens', 'cached_input_tokens', 'output_tokens', 'total_tokens'],
  ...['latency_ms_avg', 'latency_ms_p50', 'latency_ms_p95', 'ttft_ms_avg', 'ttft_ms_p50', 'ttft_ms_p95'],
];

/** A row for each bucket, or for each group of each bucket; `latency_ms.p50` is the column `latency_ms_p50`. */
export function summaryCsv({ buckets }: UsageResponse, groupBy: readonly Grouping[]): string {
  const groups = groupBy.flatMap((name) => GROUP_MEMBERS[name]);
  const rows = buckets.flatMap((bucket) => rowsOf(bucket, groupBy.length > 0));
  return toCsv(['start', 'end', ...groups, ...MEASURES], rows);
}

/** A row for each request; `attempts` is JSON. */
export function requestsCsv({ requests }: UsageRequestsResponse): string {
  return toCsv(RECORD_MEMBERS, requests);
}

function rowsOf({ groups, ...bucket }: UsageIntervalResponse, grouped: boolean): object[] {
  const { start, end } = bucket;
  return (grouped ? groups : [bucket]).map((measured) => ({ start, end, ...measured, ...timesOf(measured) }));
}

function timesOf({ latency_ms: latency, ttft_ms: ttft }: UsageMeasures): object {
  return {
    ...{ latency_ms_avg: latency.avg, latency_ms_p50: latency.p50, latency_ms_p95: latency.p95 },
    ...{ ttft_ms_avg: ttft.avg, ttft_ms_p50: ttft.p50, ttft_ms_p95: ttft.p95 },
  };
}

/**
 * RFC 4180. Models, names and addresses are of others' choosing: a text that a spreadsheet would take for a
 * formula gets an apostrophe in front of it.
 */
function toCsv(columns: readonly string[], rows: readonly object[]): string {
  return stringify([...rows], {
    columns: [...columns],
    header: true,
    record_delimiter: 'windows',
    quote_record_delimiter: true, // any line end, and not this one alone
    escape_formulas: true,
    cast: { boolean: String },
  });
}
