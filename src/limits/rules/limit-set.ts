import { Violation } from '../../common/body/nested-field.js';
import { isDecimal } from '../../common/text/decimal.js';
import { isPatternText, PATTERN_MAX } from '../../common/text/model-pattern.js';

export const PERIODS = ['day', 'week', 'month', 'total'] as const;
/** Calendar period of a budget, in UTC. Weeks begin on Monday. */
export type Period = (typeof PERIODS)[number];

/** Amount of money that may be spent in each period. */
export interface Budget {
  readonly usd: number;
  readonly period: Period;
}

/** Whether costs reach a part of a budget. Costs have 10 decimals; sums of numbers may be a little less than exact. */
export function reaches(spentUsd: number, { usd }: Budget, percent = 100): boolean {
  return (spentUsd + HALF_A_UNIT) * 100 >= usd * percent;
}

/** Half of the last decimal of a cost. */
const HALF_A_UNIT = 5e-11;

/** Limits of an organization, of each of its members, or of a key; null for no limit. */
export interface LimitSet {
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
  readonly budget: Budget | null;
  /** Patterns of the models that may be used. */
  readonly models: readonly string[] | null;
}

export const NO_LIMITS: LimitSet = {
  requests_per_minute: null,
  tokens_per_minute: null,
  budget: null,
  models: null,
};

/** Largest limits. */
export const REQUESTS_PER_MINUTE_MAX = 1_000_000;
export const TOKENS_PER_MINUTE_MAX = 1_000_000_000;
export const BUDGET_MAX_USD = 1_000_000_000;
const BUDGET_DECIMALS = 4;
export const MODELS_MAX = 100;

/** Whether the set limits anything. */
export function limitsAnything(limits: LimitSet): boolean {
  return Object.values(limits).some((limit) => limit !== null);
}

/** Parsers of the members of a limit set. Each returns the value or the reason for its rejection. */
export const MEMBERS = {
  requests_per_minute: (value: unknown) => parseCount(value, REQUESTS_PER_MINUTE_MAX),
  tokens_per_minute: (value: unknown) => parseCount(value, TOKENS_PER_MINUTE_MAX),
  budget: parseBudget,
  models: parseModels,
} satisfies Record<keyof LimitSet, (value: unknown) => unknown>;

/** Parses a limit set. An absent member is null, and null is a set of nulls. */
export function parseLimitSet(value: unknown): LimitSet | Violation {
  if (value === null) return NO_LIMITS;
  if (!isObject(value))
    return new Violation('must be an object with requests_per_minute, tokens_per_minute, budget and models');
  const limits: Partial<Record<keyof LimitSet, unknown>> = {};
  for (const [member, parse] of Object.entries(MEMBERS)) {
    const parsed = parse(value[member] ?? null);
    if (parsed instanceof Violation) return new Violation(`is invalid: ${member} ${parsed.message}`);
    limits[member as keyof LimitSet] = parsed;
  }
  return limits as LimitSet;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parseCount(value: unknown, max: number): number | null | Violation {
  if (value === null) return null;
  const isCount = Number.isInteger(value) && (value as number) >= 1 && (value as number) <= max;
  return isCount ? (value as number) : new Violation(`must be null or an integer from 1 to ${max}`);
}

function parseBudget(value: unknown): Budget | null | Violation {
  if (value === null) return null;
  const { usd, period } = isObject(value) ? value : {};
  const isAmount = isDecimal(usd, BUDGET_DECIMALS) && usd > 0 && usd <= BUDGET_MAX_USD;
  if (isAmount && PERIODS.includes(period as Period)) return { usd, period: period as Period };
  return new Violation(
    `must be null or have usd above 0 and at most ${BUDGET_MAX_USD} with at most ${BUDGET_DECIMALS} decimals, and a ` +
      `period of ${PERIODS.join(', ')}`,
  );
}

function parseModels(value: unknown): readonly string[] | null | Violation {
  if (value === null) return null;
  const isList = Array.isArray(value) && value.length > 0 && value.length <= MODELS_MAX;
  if (isList && value.every(isPatternText)) return value;
  return new Violation(
    `must be null or a list of 1 to ${MODELS_MAX} patterns of 1 to ${PATTERN_MAX} characters`,
  );
}
