import { bucketsOf, piecesOf } from './usage-calendar.js';
import type { Interval } from './usage-calendar.js';
import { parseUsageQuery } from './usage-query.js';

const NOW = new Date('2026-03-10T12:34:56.789Z');

const query = (from: string, to: string, bucket = 'day') => parseUsageQuery({ from, to, bucket }, NOW);
const short = (intervals: readonly Interval[]) =>
  intervals.map(({ from, to }) => `${from.toISOString().slice(5, 16)} ${to.toISOString().slice(5, 16)}`);

function pieces(from: string, to: string, bucket?: string) {
  const { month, day, hour, records } = piecesOf(query(from, to, bucket));
  return { months: short(month), days: short(day), hours: short(hour), records: short(records) };
}

it.each([
  ['2026-03-01', '2026-03-03', ['03-01T00:00 03-03T00:00'], [], []],
  ['2026-03-01T01:00Z', '2026-03-03', ['03-02T00:00 03-03T00:00'], ['03-01T01:00 03-02T00:00'], []],
  ['2026-03-01T01:00Z', '2026-03-01T02:00Z', [], ['03-01T01:00 03-01T02:00'], []],
  ['2026-03-01T01:01Z', '2026-03-01T01:02Z', [], [], ['03-01T01:01 03-01T01:02']],
  ['2026-03-01T01:59Z', '2026-03-01T02:01Z', [], [], ['03-01T01:59 03-01T02:01']],
  [
    '2026-03-01T22:30Z',
    '2026-03-04T01:30Z',
    ['03-02T00:00 03-04T00:00'],
    ['03-01T23:00 03-02T00:00', '03-04T00:00 03-04T01:00'],
    ['03-01T22:30 03-01T23:00', '03-04T01:00 03-04T01:30'],
  ],
])('a range from %s to %s is read from the largest pieces', (from, to, days, hours, records) => {
  expect(pieces(from, to)).toEqual({ months: [], days, hours, records });
});

it('hours are not told apart in days', () => {
  expect(pieces('2026-03-01', '2026-03-03', 'hour')).toEqual({
    months: [],
    days: [],
    hours: ['03-01T00:00 03-03T00:00'],
    records: [],
  });
});

it('months are read as a whole where buckets are months', () => {
  const asked = ['2025-11-29T23:00Z', '2026-02-01T01:30Z', 'month'] as const;
  expect(pieces(...asked)).toEqual({
    months: ['12-01T00:00 02-01T00:00'],
    days: ['11-30T00:00 12-01T00:00'],
    hours: ['11-29T23:00 11-30T00:00', '02-01T00:00 02-01T01:00'],
    records: ['02-01T01:00 02-01T01:30'],
  });
  expect(pieces('2026-02-01', '2026-03-11', 'month')).toEqual({
    months: ['02-01T00:00 04-01T00:00'],
    days: [],
    hours: [],
    records: [],
  });
});

it.each(['2026-03-10T12:34:56.789Z', '2026-03-11', '2026-03-10T13:00Z'])(
  'the day that has not ended is whole when %s is not in the past',
  (to) => {
    expect(pieces('2026-03-09', to)).toEqual({
      months: [],
      days: ['03-09T00:00 03-11T00:00'],
      hours: [],
      records: [],
    });
  },
);

it('buckets follow the calendar, and there are so many at most', () => {
  const february = query('2028-01-31T23:59Z', '2028-03-01T00:00Z', 'month');
  expect(short(bucketsOf(february, 2)!)).toEqual(['01-01T00:00 02-01T00:00', '02-01T00:00 03-01T00:00']);
  expect(bucketsOf(february, 1)).toBeUndefined();
  expect(bucketsOf(query('2028-02-28', '2028-03-02'), 100)).toHaveLength(3);
});
