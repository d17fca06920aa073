import { Violation } from '../../common/body/nested-field.js';
import { periodAt } from './budget-period.js';
import { limitsAnything, NO_LIMITS, parseLimitSet, reaches } from './limit-set.js';
import type { LimitSet } from './limit-set.js';

describe('parseLimitSet', () => {
  it.each([
    [null, NO_LIMITS],
    [{}, NO_LIMITS],
    [{ requests_per_minute: null, other: 1 }, NO_LIMITS],
    [{ requests_per_minute: 1_000_000 }, { ...NO_LIMITS, requests_per_minute: 1_000_000 }],
    [
      { tokens_per_minute: 1, budget: { usd: 0.0001, period: 'total', other: 1 }, models: ['*'] },
      { ...NO_LIMITS, tokens_per_minute: 1, budget: { usd: 0.0001, period: 'total' }, models: ['*'] },
    ],
  ])('accepts %j', (value, limits) => {
    expect(parseLimitSet(value)).toEqual(limits);
    expect(limitsAnything(limits as LimitSet)).toBe(limits !== NO_LIMITS);
  });

  it.each([[[]], ['x'], [5], [{ requests_per_minute: true }], [{ budget: [] }], [{ models: {} }]])(
    'rejects %j',
    (value) => {
      expect(parseLimitSet(value)).toBeInstanceOf(Violation);
    },
  );
});

it.each([
  [0.7 + 0.1 + 0.2, 1, 100, true],
  [0.57, 0.7125, 80, true],
  [0.9999, 1, 100, false],
  [0.9999999999, 1, 100, false],
])('a spending of %d reaches a budget of %d at %d %%: %s', (spent, usd, percent, isReached) => {
  expect(reaches(spent, { usd, period: 'day' }, percent)).toBe(isReached);
});

describe('periodAt', () => {
  const day = (text: string) => new Date(`${text}T00:00:00Z`);

  it.each([
    ['day', '2026-02-28T23:59:59.999Z', day('2026-02-28'), day('2026-03-01')],
    ['week', '2026-11-23T00:00:00.000Z', day('2026-11-23'), day('2026-11-30')],
    ['week', '2026-11-22T23:59:59.999Z', day('2026-11-16'), day('2026-11-23')],
    ['week', '2027-01-01T12:00:00.000Z', day('2026-12-28'), day('2027-01-04')],
    ['month', '2026-12-31T23:59:59.999Z', day('2026-12-01'), day('2027-01-01')],
    ['total', '2026-12-31T23:59:59.999Z', null, null],
  ] as const)('the %s of %s', (period, time, start, end) => {
    expect(periodAt(period, new Date(time))).toMatchObject({ start, end });
  });
});
