import { summarizeLimits } from './limit-summary';
import { NO_LIMITS } from './limit-values';

const STATUS = { requests_last_minute: 0, tokens_last_minute: 0, budget: null };
const spent = (spent_usd: number, remaining_usd: number) => ({
  ...STATUS,
  budget: {
    spent_usd,
    remaining_usd,
    period_start: null,
    period_end: null,
    is_exceeded: remaining_usd === 0,
  },
});

it('describes all limits, and what remains of the budget', () => {
  const limits = {
    ...{ requests_per_minute: 60, tokens_per_minute: 10_000 },
    ...{ budget: { usd: 5, period: 'day' as const }, models: ['gpt-*', 'o3'] },
  };
  expect(summarizeLimits(limits, spent(0.9, 4.1))).toBe(
    '60 requests per minute; 10,000 tokens per minute; $4.10 of $5.00 left per day; only gpt-*, o3',
  );
  const total = { ...NO_LIMITS, budget: { usd: 5, period: 'total' as const } };
  expect(summarizeLimits(total, spent(6, 0))).toBe('budget of $5.00 in total used up');
});

it('describes no limits by nothing', () => {
  expect(summarizeLimits(NO_LIMITS, STATUS)).toBe('');
});
