import type { Client } from 'pg';

const REQUESTS_PER_SECOND = 1_000;
/** Buckets of typical providers: latencies from 50 ms to 2 s, and times to the first token in half of that range. */
const LATENCY = { first: 1_100, buckets: 95 };
const TTFT = { first: 11_080, buckets: 60 };

const COLUMNS = `granularity, start, organization_id, user_id, key_id, upstream_id, upstream_name, provider, model,
  status, last_at, requests, errors, input_tokens, cached_input_tokens, output_tokens, total_tokens, latency_ms,
  ttft_ms, ttft_requests, histogram, cost_usd, priced_requests, cache_write_tokens, reasoning_tokens`;

/**
 * Inserts the roll-ups of 2025 that the service would have written at 1,000 requests per second, and returns their number.
 * The requests are spread evenly over the combinations: 3 models, 2 upstreams, 2 keys, and statuses for the rest.
 */
export async function fillYear(client: Client, user: string, combinations: number): Promise<number> {
  let rows = 0;
  for (const [granularity, seconds] of [
    ['hour', 3_600],
    ['day', 86_400],
    ['month', (86_400 * 365) / 12],
  ] as const) {
    const requests = Math.round((REQUESTS_PER_SECOND * seconds) / combinations);
    const histogram = [LATENCY, TTFT].flatMap((shape) => createHistogram(requests, shape));
    const { rowCount } = await client.query(
      `INSERT INTO usage_rollups (${COLUMNS})
       SELECT $1::text, start, 1, $2::text, 1 + c / 6 % 2, 1 + c / 3 % 2, 'upstream ' || (1 + c / 3 % 2), 'openai',
         'model-' || (1 + c % 3), 200 + c / 12, start, $3::bigint, $3::bigint / 100, $3::bigint * 900, NULL,
         $3::bigint * 100, $3::bigint * 1000, $3::float8 * 300, $3::float8 * 80, $3::bigint, $4::bigint[],
         $3::numeric * 0.0012345678, $3::bigint, $3::bigint * 10, $3::bigint * 40
       FROM generate_series(timestamptz '2025-01-01', '2025-12-31 23:59', ('1 ' || $1)::interval) AS start,
         generate_series(0, $5::integer - 1) AS c`,
      [granularity, user, requests, histogram, combinations],
    );
    rows += rowCount ?? 0;
  }
  await client.query('VACUUM ANALYZE usage_rollups');
  return rows;
}

/** A bell curve in the packed format of the column `histogram`: the bucket above the lower 40 bits, its count in them. */
function createHistogram(requests: number, { first, buckets }: typeof LATENCY): string[] {
  const weights = Array.from({ length: buckets }, (_, i) =>
    Math.exp(-(((i - buckets / 2) / (buckets / 5)) ** 2)),
  );
  const total = weights.reduce((sum, weight) => sum + weight);
  return weights.map((weight, i) => {
    const count = BigInt(Math.max(1, Math.round((requests * weight) / total)));
    return String((BigInt(first + i) << 40n) + count);
  });
}
