/**
 * Latencies are kept as histograms whose buckets grow by 4 %: bucket `b` counts what lies from 1.04^b to
 * 1.04^(b+1) ms. A percentile is told as the middle of its bucket (the value that is equally far from both ends,
 * relatively), which is at most 2 % from the exact one. Histograms of different hours, models, ... add up.
 *
 * In PostgreSQL a histogram is a `bigint[]`; an element holds a bucket in its upper bits and a count in its lower
 * 40. A bucket may occur more than once.
 */
const GROWTH = 1.04;
/** Anything shorter counts as this. */
const SHORTEST_MS = 0.001;
/** Makes the buckets of what is shorter than 1 ms positive, too. */
const OFFSET = 1_000;
const COUNT_BITS = 40;

/** SQL: the element for one value. */
export function elementOf(milliseconds: string): string {
  const bucket = `floor(ln(greatest(${milliseconds}, ${SHORTEST_MS})) / ln(${GROWTH}::double precision))::bigint`;
  return `((${bucket} + ${OFFSET} << ${COUNT_BITS}) + 1)`;
}

/** SQL: the bucket of an element. */
export const bucketOf = (element: string): string => `(${element} >> ${COUNT_BITS})`;

/** SQL: the count of an element. */
export const countOf = (element: string): string => `(${element} & ((1::bigint << ${COUNT_BITS}) - 1))`;

/** SQL: the value, in milliseconds, that stands for all in a bucket. */
export const middleOf = (bucket: string): string =>
  `(power(${GROWTH}::double precision, ${bucket} - ${OFFSET}) * ${(2 * GROWTH) / (1 + GROWTH)})`;

/** SQL: a histogram (or null) with the elements of another (or null), each bucket once. */
export function sumOf(histogram: string, other: string): string {
  return `(
    SELECT array_agg((bucket << ${COUNT_BITS}) + total)
    FROM (SELECT ${bucketOf('element')} AS bucket, sum(${countOf('element')})::bigint AS total
      FROM unnest(${histogram} || ${other}) AS element GROUP BY 1) AS buckets)`;
}
