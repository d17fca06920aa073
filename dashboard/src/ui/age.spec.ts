import { describeAge } from './age';

const NOW = Date.parse('2026-11-23T12:00:00Z');

it.each([
  ['2026-11-23T11:59:45Z', 'just now'],
  ['2026-11-23T12:00:00.900Z', 'in less than a minute'],
  ['2026-11-23T11:30:00Z', '30 minutes ago'],
  ['2026-11-22T12:00:00Z', 'yesterday'],
  ['2026-11-30T12:00:00Z', 'in 7 days'],
  ['2026-12-23T12:00:00Z', 'in 1 month'],
  ['2025-10-01T12:00:00Z', '1 year ago'],
])('describes %s as %s', (time, expected) => {
  expect(describeAge(Date.parse(time), NOW)).toBe(expected);
});
