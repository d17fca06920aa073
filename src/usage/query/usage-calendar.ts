import type { Bucket, UsageQuery } from './usage-query.js';

const LARGEST_FIRST: readonly Bucket[] = ['month', 'day', 'hour'];

/** Time interval, including its start and excluding its end. */
export interface Interval {
  readonly from: Date;
  readonly to: Date;
}

/** Parts of a range by the table that they are read from. */
export interface Pieces {
  /** Whole months, days or hours: from the roll-ups of that granularity. */
  readonly month: Interval[];
  readonly day: Interval[];
  readonly hour: Interval[];
  /** Parts of hours: from the records. */
  readonly records: Interval[];
}

/** The beginning of the hour, day or month (UTC) that a time is in. */
function startOf(bucket: Bucket, time: Date): Date {
  const [year, month, day] = [time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate()];
  if (bucket === 'month') return new Date(Date.UTC(year, month));
  return new Date(Date.UTC(year, month, day, bucket === 'hour' ? time.getUTCHours() : 0));
}

/** The end of the hour, day or month (UTC) that a time is in. */
function endOf(bucket: Bucket, time: Date): Date {
  const [year, month, day] = [time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate()];
  if (bucket === 'month') return new Date(Date.UTC(year, month + 1));
  if (bucket === 'day') return new Date(Date.UTC(year, month, day + 1));
  return new Date(Date.UTC(year, month, day, time.getUTCHours() + 1));
}

/** Lists the whole hours, days or months that overlap a range. @returns undefined if there are more than `max` */
export function bucketsOf({ from, to, bucket }: UsageQuery, max: number): Interval[] | undefined {
  const buckets: Interval[] = [];
  for (let start = startOf(bucket, from); start < to; start = endOf(bucket, start)) {
    if (buckets.push({ from: start, to: endOf(bucket, start) }) > max) return undefined;
  }
  return buckets;
}

/**
 * Splits a range into the pieces that need the fewest rows: whole months, days and hours, none longer than a bucket, and
 * records at its unaligned ends. A unit that has not ended counts as whole if the range continues until now.
 */
export function piecesOf({ from, to, bucket, now }: UsageQuery): Pieces {
  const pieces: Pieces = { month: [], day: [], hour: [], records: [] };
  const take = (interval: Interval, [unit, ...smaller]: readonly Bucket[]): void => {
    if (unit === undefined) return void pieces.records.push(interval);
    const found = whole(unit, interval, now);
    if (found) pieces[unit].push(found);
    for (const rest of found ? without(interval, found) : [interval]) take(rest, smaller);
  };
  take({ from, to }, LARGEST_FIRST.slice(LARGEST_FIRST.indexOf(bucket)));
  return pieces;
}

function whole(unit: Bucket, { from, to }: Interval, now: Date): Interval | undefined {
  const start = firstFrom(unit, from);
  const end = to >= now ? firstFrom(unit, to) : startOf(unit, to);
  return start < end ? { from: start, to: end } : undefined;
}

/** Earliest start of a unit at or after a time. */
function firstFrom(unit: Bucket, time: Date): Date {
  return startOf(unit, time).getTime() === time.getTime() ? time : endOf(unit, time);
}

/** Remainders of an interval on both sides of an inner interval. */
function without(outer: Interval, inner: Interval): Interval[] {
  const ends = [
    { from: outer.from, to: inner.from },
    { from: inner.to, to: outer.to },
  ];
  return ends.filter(({ from, to }) => from < to);
}
