import { fieldOf, limitsAnything, NO_LIMITS, toLimitSet, toValues } from './limit-values';
import type { LimitSet } from './queries';

it.each<LimitSet>([
  NO_LIMITS,
  {
    requests_per_minute: 60,
    tokens_per_minute: 1_000,
    budget: { usd: 0.5, period: 'week' },
    models: ['gpt-*'],
  },
  { ...NO_LIMITS, budget: { usd: 20, period: 'total' } },
])('keeps %j', (limits) => {
  expect(toLimitSet(toValues(limits))).toEqual(limits);
  expect(limitsAnything(limits)).toBe(limits !== NO_LIMITS);
});

it.each([
  ['organization.requests_per_minute must be an integer', 'requests'],
  ['member.budget.usd must be greater than 0', 'usd'],
  ['models must not be empty', 'models'],
  ['something else', undefined],
])('finds the field of %p', (message, field) => {
  expect(fieldOf(message)).toBe(field);
});
