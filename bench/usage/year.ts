import type { Client } from 'pg';

const REQUESTS_A_SECOND = 1_000;
/** Latencies from 50 ms to 2 s in most hours, and first bytes within half of the range: as providers have them. */
const LATENCY = { first: 1_100, buckets: 95 };
const TTFT = { first: 11_080, buckets: 60 };

const COLUMNS = `granularity, start, organization_id, user_id, key_id, upstream_id, upstream_name, provider, model,
  status, last_at, requests, errors, input_tokens, cached_input_tokens, output_tokens, total_tokens, latency_ms,
  ttft_ms, ttft_requests, histogram`;

/**
 * Roll-ups of 2025 as the service would have written them at 1,000 requests a second, in equal parts of every
 * combination: models by 3, upstreams by 2, keys by 2, and statuses for the rest. Returns how many.
 */
export async function fillYear(client: Client, user: string, combinations: number): Promise<number> {
  let rows = 0;
  for (const [granularity, seconds] of [
    ['hour', 3_600],
    ['day', 86_400],
    ['month', (86_400 * 365) / 12],
  ] as const) {
    const requests = Math.round((REQUESTS_A_SECOND * seconds) / combinations);
    const histogram = [LATENCY, TTFT].flatMap((shape) => histogramOf(requests, shape));
    const { rowCount } = await client.query(
      `INSERT INTO usage_rollups (${COLUMNS})
       SELECT $1::text, start, 1, $2::text, 1 + c / 6 % 2, 1 + c / 3 % 2, 'upstream ' || (1 + c / 3 % 2), 'openai',
         'model-' || (1 + c % 3), 200 + c / 12, start, $3::bigint, $3::bigint / 100, $3::bigint * 900, NULL,
         $3::bigint * 100, $3::bigint * 1000, $3::float8 * 300, $3::float8 * 80, $3::bigint, $4::bigint[]
       FROM generate_series(timestamptz '2025-01-01', '2025-12-31 23:59', ('1 ' || $1)::interval) AS start,
         generate_series(0, $5::integer - 1) AS c`,
      [granularity, user, requests, histogram, combinations],
    );
    rows += rowCount ?? 0;
  }
  await client.query('VACUUM ANALYZE usage_rollups');
  return rows;
}

/** A bell of packed buckets, see `src/usage/histogram.ts`. */
function histogramOf(requests: number, { first, buckets }: typeof LATENCY): string[] {
  const weights = Array.from({ length: buckets }, (_, i) =>
    Math.exp(-(((i - buckets / 2) / (buckets / 5)) ** 2)),
  );
  const total = weights.reduce((sum, weight) => sum + weight);
  return weights.map((weight, i) => {
    const count = BigInt(Math.max(1, Math.round((requests * weight) / total)));
    return String((BigInt(first + i) << 40n) + count);
  });
}
