import type { Introspection, Limits, LimitStatus } from '../network/introspection.js';

const PERIODS: Record<string, string> = { day: 'today', week: 'this week', month: 'this month' };

/** Describes the limits of a key and what remains of them. Empty if the service does not report limits. */
export function describeLimits({
  limits,
  status,
}: Pick<Introspection, 'limits' | 'status'>): [string, string][] {
  if (!limits) return [];
  const lines = [
    ['Requests', rate(limits.requests_per_minute, status?.requests_last_minute)],
    ['Tokens', rate(limits.tokens_per_minute, status?.tokens_last_minute)],
    ['Budget', budget(limits.budget, status?.budget ?? null)],
    ['Models', limits.models?.join(', ')],
  ] as const;
  const set = lines.flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, value]],
  );
  return set.length > 0 ? set : [['Limits', 'none']];
}

function rate(limit: number | null, used = 0): string | undefined {
  if (limit === null) return undefined;
  return `${used} of ${limit} in the last minute, ${Math.max(0, limit - used)} left`;
}

function budget(limit: Limits['budget'], status: LimitStatus['budget']): string | undefined {
  if (limit === null) return undefined;
  const period = PERIODS[limit.period] ?? 'in total';
  if (status === null) return `${dollars(limit.usd)} ${period}`;
  return `${dollars(status.spent_usd)} of ${dollars(limit.usd)} ${period}, ${dollars(status.remaining_usd)} left`;
}

/** Formats dollars with cents, and with more decimals only for smaller amounts. */
export function dollars(amount: number): string {
  const decimals = amount !== 0 && Math.abs(amount) < 0.01 ? 6 : 2;
  return `$${amount.toFixed(decimals)}`;
}
