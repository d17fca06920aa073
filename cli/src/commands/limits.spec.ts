import { describeLimits, dollars } from './limits.js';

const NONE = { requests_per_minute: null, tokens_per_minute: null, budget: null, models: null };

it('shows nothing if the service does not report limits', () => expect(describeLimits({})).toEqual([]));

it('says that there are none', () => expect(describeLimits({ limits: NONE })).toEqual([['Limits', 'none']]));

it('shows limits and what remains', () => {
  const limits = {
    requests_per_minute: 60,
    tokens_per_minute: 1_000,
    budget: { usd: 10, period: 'month' },
    models: ['gpt-*', 'claude-*'],
  };
  const status = {
    requests_last_minute: 12,
    tokens_last_minute: 1_200,
    budget: { spent_usd: 1.25, remaining_usd: 8.75 },
  };
  expect(describeLimits({ limits, status })).toEqual([
    ['Requests', '12 of 60 in the last minute, 48 left'],
    ['Tokens', '1200 of 1000 in the last minute, 0 left'],
    ['Budget', '$1.25 of $10.00 this month, $8.75 left'],
    ['Models', 'gpt-*, claude-*'],
  ]);
});

it.each([
  [0, '$0.00'],
  [12.345, '$12.35'],
  [0.0004, '$0.000400'],
])('%d is %s', (amount, expected) => expect(dollars(amount)).toBe(expected));
