/**
 * Histograms of latencies and times to the first token have buckets that grow by 4 %. Bucket `b` counts durations from
 * 1.04^b to 1.04^(b+1) ms. A percentile is reported as the middle of its bucket: the value at the same relative distance
 * from both ends, at most 2 % from the exact value. Histograms of different hours, models, ... can be added.
 *
 * One `bigint[]` in PostgreSQL contains both histograms. The upper bits of an element are a step (a bucket of one
 * metric), the lower 40 bits a count. A step may occur more than once.
 */
const GROWTH = 1.04;
/** Lower bound: shorter durations count as this one. */
const SHORTEST_MS = 0.001;
const COUNT_BITS = 40;

/** Step of bucket 0 of each metric. Durations below 1 ms have smaller steps. */
const BUCKET_0 = { latency: 1_000, ttft: 11_000 };
/** Step between the two metrics, which no duration reaches. */
const BORDER = 6_000;

export type Metric = keyof typeof BUCKET_0;

/** SQL: the element for one value; null for null. */
export function elementOf(metric: Metric, milliseconds: string): string {
  const value = `CASE WHEN ${milliseconds} < ${SHORTEST_MS} THEN ${SHORTEST_MS} ELSE ${milliseconds} END`;
  const bucket = `floor(ln(${value}) / ln(${GROWTH}::double precision))::bigint`;
  return `((${bucket} + ${BUCKET_0[metric]} << ${COUNT_BITS}) + 1)`;
}

/** SQL: the step of an element. */
export const stepOf = (element: string): string => `(${element} >> ${COUNT_BITS})`;

/** SQL: the count of an element, which stays far below 2^53. */
export const countOf = (element: string): string =>
  `(${element} & ((1::bigint << ${COUNT_BITS}) - 1))::double precision`;

/** SQL: whether a step belongs to the metric. */
export const isOf = (metric: Metric, step: string): string =>
  `(${step} ${metric === 'latency' ? '<' : '>='} ${BORDER})`;

/** SQL: the value, in milliseconds, that represents a step. */
export const middleOf = (metric: Metric, step: string): string =>
  `(power(${GROWTH}::double precision, ${step} - ${BUCKET_0[metric]}) * ${(2 * GROWTH) / (1 + GROWTH)})`;

/** SQL: the sum of two histograms, with each step once. */
export function sumOf(histogram: string, other: string): string {
  return `(
    SELECT array_agg((step << ${COUNT_BITS}) + count)
    FROM (SELECT ${stepOf('element')} AS step, sum(${countOf('element')})::bigint AS count
      FROM unnest(${histogram} || ${other}) AS element GROUP BY 1) AS steps)`;
}
