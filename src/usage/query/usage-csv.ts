import { stringify } from 'csv-stringify/sync';
import type { UsageRequestsResponse } from './dto/usage-requests.response.js';
import type { UsageIntervalResponse, UsageMeasures, UsageResponse } from './dto/usage.response.js';
import { FIRST_FIELDS, SUMMED_NAMES, USAGE_FIELD_NAMES } from '../record/usage-record.js';
import type { Grouping } from './usage-query.js';
import type { SummedName, UsageRecord } from '../record/usage-record.js';

const GROUP_MEMBERS: Record<Grouping, readonly string[]> = {
  model: ['model'],
  provider: ['provider'],
  upstream: ['upstream_id', 'upstream_name'],
  key: ['key_id', 'key_name'],
  user: ['user_id', 'user_email'],
  status: ['status'],
};
const DURATIONS = (['latency_ms', 'ttft_ms'] as const).flatMap((metric) =>
  (['avg', 'p50', 'p95'] as const).map((figure) => ({ column: `${metric}_${figure}`, metric, figure })),
);
const isFirst = (name: SummedName) => USAGE_FIELD_NAMES.indexOf(name) < FIRST_FIELDS;
/** Later columns follow the first ones, so that the position of a column never changes. */
const MEASURES = [
  ...['requests', 'errors', ...SUMMED_NAMES.filter(isFirst), ...DURATIONS.map(({ column }) => column)],
  ...[...SUMMED_NAMES.filter((name) => !isFirst(name)), 'unpriced_requests'],
];

/** Writes a row for each bucket, or for each group of each bucket. The column `latency_ms_p50` is `latency_ms.p50`. */
export function summaryCsv({ buckets }: UsageResponse, groupBy: readonly Grouping[]): string {
  const groups = groupBy.flatMap((name) => GROUP_MEMBERS[name]);
  const rows = buckets.flatMap((bucket) => rowsOf(bucket, groupBy.length > 0));
  return toCsv(['start', 'end', ...groups, ...MEASURES], rows);
}

/** Writes a row for each request; `attempts` is JSON. */
export function requestsCsv({ requests }: UsageRequestsResponse): string {
  return toCsv(USAGE_FIELD_NAMES, requests);
}

/** Upper bound of the bytes around the text of a field: two quotes, an apostrophe and a separator. */
const FIELD_BYTES = 4;

/** Upper bound of the bytes of a request's row. Formatting each row to measure it would take six times as long. */
export function requestCsvBytes(request: UsageRecord): number {
  let bytes = 0;
  for (const name of USAGE_FIELD_NAMES) {
    const value = request[name] ?? '';
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
    bytes += Buffer.byteLength(text) + text.split('"').length - 1 + FIELD_BYTES;
  }
  return bytes;
}

function rowsOf({ groups, ...bucket }: UsageIntervalResponse, grouped: boolean): object[] {
  const { start, end } = bucket;
  return (grouped ? groups : [bucket]).map((measured) => ({
    start,
    end,
    ...measured,
    ...durationsOf(measured),
  }));
}

function durationsOf(measured: UsageMeasures): object {
  return Object.fromEntries(
    DURATIONS.map(({ column, metric, figure }) => [column, measured[metric][figure]]),
  );
}

/**
 * Writes CSV (RFC 4180). Clients choose models, names and addresses: an apostrophe precedes a text that a spreadsheet
 * would evaluate as a formula.
 */
function toCsv(columns: readonly string[], rows: readonly object[]): string {
  return stringify([...rows], {
    columns: [...columns],
    header: true,
    record_delimiter: 'windows',
    quote_record_delimiter: true, // quotes texts with any kind of line end
    cast: { boolean: String, string: withoutFormula },
  });
}

/** Beginning of a formula. Spreadsheets skip white space and invisible characters and accept full-width signs. */
const FORMULA = /^(?:[\t\r]|[\s\p{Cc}\p{Default_Ignorable_Code_Point}]*[=+\-@＝＋－＠])/u;

function withoutFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}
