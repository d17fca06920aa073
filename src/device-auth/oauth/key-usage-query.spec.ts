import { keyUsageQuery, parseUsageDays } from './key-usage-query.js';

it.each([
  ['1', 1],
  ['30', 30],
  ['90', 90],
])('usage_days=%s is %d days', (text, days) => expect(parseUsageDays(text)).toBe(days));

it('is absent if the field is absent', () => expect(parseUsageDays(null)).toBeUndefined());

it.each(['0', '91', '-1', '01', '1.5', '1e1', ' 7', '+7', 'seven', '100', '٣'])(
  'usage_days=%s is invalid',
  (text) => expect(() => parseUsageDays(text)).toThrow('usage_days must be a whole number from 1 to 90'),
);

it.each([
  [1, '2026-03-01T00:00:00.000Z'],
  [2, '2026-02-28T00:00:00.000Z'],
  [90, '2025-12-02T00:00:00.000Z'],
])('%d days, today included, begin at %s', (days, from) => {
  const now = new Date('2026-03-01T00:30:00.000+00:00');
  const query = keyUsageQuery(7, days, now);
  expect(query).toMatchObject({ to: now, filters: { key: ['7'] }, bucket: 'day', groupBy: ['model'] });
  expect(query.from.toISOString()).toBe(from);
});
