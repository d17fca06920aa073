import { applyLimits } from '../rules/applied-limits.js';
import { NO_LIMITS } from '../rules/limit-set.js';
import type { LimitSet } from '../rules/limit-set.js';
import { ScopeConsumption } from './scope-consumption.js';

const MIDNIGHT = Date.UTC(2026, 10, 24);
const DAY_MS = 86_400_000;

let version = 0;

function levelOf(limits: Partial<LimitSet>) {
  const texts = { organization: null, member: null, key: JSON.stringify({ ...NO_LIMITS, ...limits }) };
  return applyLimits({ id: 1, organizationId: 1, userId: 'ada' }, texts, ++version)!.levels[0]!;
}

const rowOf = (spent: number) => ({ scope: 'key 1', tokens: [], spent });

it('a sum that was queried before midnight is not that of the new day', () => {
  const scope = new ScopeConsumption(levelOf({ budget: { usd: 1, period: 'day' } }));
  const query = scope.queryAt(MIDNIGHT - 1);
  expect(scope.spent(MIDNIGHT + 1)).toBe(0); // the scope goes on to the new day
  expect(scope.onLoaded(rowOf(5), query, -Infinity)).toBe(true);
  expect(scope.spentInRecords).toEqual({ usd: 5, start: MIDNIGHT - DAY_MS });
  expect(scope.spent(MIDNIGHT + 1)).toBe(0);
  expect(scope.isFresh(MIDNIGHT + 1, DAY_MS)).toBe(false);
});

it('a sum of another period than that of the budget of now is dropped', () => {
  const scope = new ScopeConsumption(levelOf({ budget: { usd: 1, period: 'day' } }));
  const query = scope.queryAt(MIDNIGHT);
  scope.update(levelOf({ budget: { usd: 1, period: 'total' } }));
  expect(scope.onLoaded(rowOf(5), query, -Infinity)).toBe(false);
  expect(scope.isFresh(MIDNIGHT, DAY_MS)).toBe(false);
});

it('sums without a budget are not fresh once there is one for all time', () => {
  const scope = new ScopeConsumption(levelOf({ tokens_per_minute: 5 }));
  scope.onLoaded(rowOf(0), scope.queryAt(MIDNIGHT), -Infinity);
  expect(scope.isFresh(MIDNIGHT, DAY_MS)).toBe(true);
  scope.update(levelOf({ tokens_per_minute: 5, budget: { usd: 1, period: 'total' } }));
  expect(scope.isFresh(MIDNIGHT, DAY_MS)).toBe(false);
});
