import type { SummedName, UsageRecord } from '../../src/usage/record/usage-record.js';

export type Unit = 'hour' | 'day' | 'month';

/** Costs have 10 decimals. */
const COST_UNITS = 1e10;

/** Computes the measures of records one by one, with exact percentiles. */
export function measuresOf(records: readonly UsageRecord[]) {
  const ttfts = records.flatMap(({ ttft_ms }) => (ttft_ms === null ? [] : [ttft_ms]));
  const sum = (name: SummedName) => {
    const known = records.flatMap((record) => record[name] ?? []);
    const total = known.reduce((all, value) => all + value, 0);
    if (known.length === 0) return null;
    return name === 'cost_usd' ? Math.round(total * COST_UNITS) / COST_UNITS : total;
  };
  return {
    requests: records.length,
    errors: records.filter(({ outcome }) => outcome !== 'ok').length,
    input_tokens: sum('input_tokens'),
    cached_input_tokens: sum('cached_input_tokens'),
    output_tokens: sum('output_tokens'),
    total_tokens: sum('total_tokens'),
    cache_write_tokens: sum('cache_write_tokens'),
    reasoning_tokens: sum('reasoning_tokens'),
    cost_usd: sum('cost_usd'),
    unpriced_requests: records.filter((each) => each.upstream_id !== null && each.cost_usd === null).length,
    latency_ms: timesOf(records.map(({ latency_ms }) => latency_ms)),
    ttft_ms: timesOf(ttfts),
  };
}

function timesOf(values: number[]) {
  if (values.length === 0) return { avg: null, p50: null, p95: null };
  const sorted = values.toSorted((a, b) => a - b);
  const rank = (percent: number) => sorted[Math.ceil((percent * values.length) / 100) - 1]!;
  const total = values.reduce((sum, value) => sum + value, 0);
  const part = values.length === 1 ? 0 : 0.02;
  return { avg: near(total / values.length, 0), p50: near(rank(50), part), p95: near(rank(95), part) };
}

/** Matches a number within a relative distance, or half a microsecond. */
function near(exact: number, part: number): unknown {
  return {
    asymmetricMatch: (value: unknown) =>
      typeof value === 'number' && Math.abs(value - exact) <= exact * part + 0.000_501,
    toString: () => `Near<${exact} ± ${part * 100} %>`,
    toAsymmetricMatcher: () => `Near<${exact} ± ${part * 100} %>`,
    getExpectedType: () => 'number',
  };
}

/** Lists the hours, days or months (UTC) that overlap a range. */
export function calendar(unit: Unit, from: string, to: string): { start: string; end: string }[] {
  const length = { hour: 13, day: 10, month: 7 }[unit];
  const first = `${from.slice(0, length)}${'0000-01-01T00:00:00.000Z'.slice(length)}`;
  const buckets = [];
  for (let start = first; start < to;) {
    const time = new Date(start);
    if (unit === 'hour') time.setUTCHours(time.getUTCHours() + 1);
    if (unit === 'day') time.setUTCDate(time.getUTCDate() + 1);
    if (unit === 'month') time.setUTCMonth(time.getUTCMonth() + 1);
    buckets.push({ start, end: time.toISOString() });
    start = time.toISOString();
  }
  return buckets;
}
