/**
 * Latencies and times to the first token are kept in histograms whose buckets grow by 4 %: bucket `b` counts what
 * lies from 1.04^b to 1.04^(b+1) ms. A percentile is told as the middle of its bucket (the value that is equally far
 * from both ends, relatively), which is at most 2 % from the exact one. Histograms of different hours, models, ...
 * add up.
 *
 * In PostgreSQL both are in one `bigint[]`; an element holds a step (a bucket of one of the metrics) in its upper bits
 * and a count in its lower 40. A step may occur more than once.
 */
const GROWTH = 1.04;
/** Anything shorter counts as this. */
const SHORTEST_MS = 0.001;
const COUNT_BITS = 40;

/** Bucket 0 of a metric as a step; those of what is shorter than 1 ms are before it. */
const BUCKET_0 = { latency: 1_000, ttft: 11_000 };
/** Between the metrics: no time is as long, or as short. */
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

/** SQL: the count of an element; counts of more than 2^53 are out of sight. */
export const countOf = (element: string): string =>
  `(${element} & ((1::bigint << ${COUNT_BITS}) - 1))::double precision`;

/** SQL: whether a step is one of the metric's. */
export const isOf = (metric: Metric, step: string): string =>
  `(${step} ${metric === 'latency' ? '<' : '>='} ${BORDER})`;

/** SQL: the value, in milliseconds, that stands for all in a step. */
export const middleOf = (metric: Metric, step: string): string =>
  `(power(${GROWTH}::double precision, ${step} - ${BUCKET_0[metric]}) * ${(2 * GROWTH) / (1 + GROWTH)})`;

/** SQL: a histogram with the elements of another, each step once. */
export function sumOf(histogram: string, other: string): string {
  return `(
    SELECT array_agg((step << ${COUNT_BITS}) + count)
    FROM (SELECT ${stepOf('element')} AS step, sum(${countOf('element')})::bigint AS count
      FROM unnest(${histogram} || ${other}) AS element GROUP BY 1) AS steps)`;
}
