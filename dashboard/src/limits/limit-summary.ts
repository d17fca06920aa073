import { formatNumber, formatUsd } from '../usage/format';
import { PERIODS } from './limit-values';
import type { LimitSet, LimitStatus } from './queries';

/** Describes a limit set in a line, such as `60 requests per minute, $4.10 of $5.00 left per day`. */
export function summarizeLimits(limits: LimitSet, status: LimitStatus): string {
  const { requests_per_minute: requests, tokens_per_minute: tokens, budget, models } = limits;
  return [
    requests === null ? '' : `${formatNumber(requests)} requests per minute`,
    tokens === null ? '' : `${formatNumber(tokens)} tokens per minute`,
    budget === null ? '' : summarizeBudget(budget, status.budget),
    models === null ? '' : `only ${models.join(', ')}`,
  ]
    .filter((part) => part !== '')
    .join('; ');
}

function summarizeBudget(
  { usd, period }: NonNullable<LimitSet['budget']>,
  status: LimitStatus['budget'],
): string {
  const label = PERIODS.find(({ value }) => value === period)!.label;
  if (status?.is_exceeded) return `budget of ${formatUsd(usd)} ${label} used up`;
  return status
    ? `${formatUsd(status.remaining_usd)} of ${formatUsd(usd)} left ${label}`
    : `${formatUsd(usd)} ${label}`;
}
