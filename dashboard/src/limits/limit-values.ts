import type { LimitSet } from './queries';

/** Limit set as the fields of a form have it. Empty fields are the empty text. */
export interface LimitValues {
  requests: number | string;
  tokens: number | string;
  usd: number | string;
  period: Period;
  models: string[];
}

/** Calendar period of a budget, in UTC. */
export type Period = NonNullable<LimitSet['budget']>['period'];

/** Periods with their labels, as forms show them. */
export const PERIODS: readonly { readonly value: Period; readonly label: string }[] = [
  { value: 'day', label: 'per day' },
  { value: 'week', label: 'per week' },
  { value: 'month', label: 'per month' },
  { value: 'total', label: 'in total' },
];

/** Limit set that limits nothing. */
export const NO_LIMITS: LimitSet = {
  requests_per_minute: null,
  tokens_per_minute: null,
  budget: null,
  models: null,
};

/** Converts a limit set to the values of its form. Absent limits become empty fields. */
export function toValues({ requests_per_minute, tokens_per_minute, budget, models }: LimitSet): LimitValues {
  return {
    requests: requests_per_minute ?? '',
    tokens: tokens_per_minute ?? '',
    usd: budget?.usd ?? '',
    period: budget?.period ?? 'month',
    models: [...(models ?? [])],
  };
}

/** The service rejects values that are out of bounds. */
export function toLimitSet({ requests, tokens, usd, period, models }: LimitValues): LimitSet {
  return {
    requests_per_minute: requests === '' ? null : Number(requests),
    tokens_per_minute: tokens === '' ? null : Number(tokens),
    budget: usd === '' ? null : { usd: Number(usd), period },
    models: models.length === 0 ? null : models,
  };
}

/** Whether a set has at least one limit. */
export function limitsAnything(limits: LimitSet): boolean {
  return Object.values(limits).some((value) => value !== null);
}

/** Whether two sets have the same values in a form. */
export function isSameSet(a: LimitSet, b: LimitSet): boolean {
  return JSON.stringify(toValues(a)) === JSON.stringify(toValues(b));
}

const FIELDS: readonly (readonly [member: string, field: keyof LimitValues])[] = [
  ['requests_per_minute', 'requests'],
  ['tokens_per_minute', 'tokens'],
  ['budget', 'usd'],
  ['models', 'models'],
];

/** Field that a message of the service is about. It names the member, such as `organization.budget.usd`. */
export function fieldOf(message: string): keyof LimitValues | undefined {
  return FIELDS.find(([member]) => message.includes(member))?.[1];
}
