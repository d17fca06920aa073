import type { Bucket, UsageQuery } from './usage-query.js';

const LARGEST_FIRST: readonly Bucket[] = ['month', 'day', 'hour'];

/** From a time (in it) to another (not in it). */
export interface Interval {
  readonly from: Date;
  readonly to: Date;
}

/** What a range is read from. */
export interface Pieces {
  /** Whole ones, from the roll-ups of that granularity. */
  readonly month: Interval[];
  readonly day: Interval[];
  readonly hour: Interval[];
  /** Parts of hours, from the records themselves. */
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

/** The hours, days or months that a range touches, whole; undefined when there are more than `most`. */
export function bucketsOf({ from, to, bucket }: UsageQuery, most: number): Interval[] | undefined {
  const buckets: Interval[] = [];
  for (let start = startOf(bucket, from); start < to; start = endOf(bucket, start)) {
    if (buckets.push({ from: start, to: endOf(bucket, start) }) > most) return undefined;
  }
  return buckets;
}

/**
 * Takes a range to pieces that need the fewest rows: whole months, days and hours where it has them (none longer than a
 * bucket), records at its unaligned ends. What has not ended is whole when the range goes on until now.
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

/** The time itself where one of the unit begins at it, the beginning of the next one otherwise. */
function firstFrom(unit: Bucket, time: Date): Date {
  return startOf(unit, time).getTime() === time.getTime() ? time : endOf(unit, time);
}

/** What is left of an interval at both ends of an inner one. */
function without(outer: Interval, inner: Interval): Interval[] {
  const ends = [
    { from: outer.from, to: inner.from },
    { from: inner.to, to: outer.to },
  ];
  return ends.filter(({ from, to }) => from < to);
}
