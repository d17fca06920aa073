import type { Budget, Period } from './limit-set.js';

const DAY_MS = 24 * 3_600_000;
const DAYS_OF_WEEK = 7;
/** Day of the week of Monday, counted from Sunday. */
const MONDAY = 1;

/** Calendar period (UTC) that a time is in. */
export interface BudgetPeriod {
  /** Null for `total`. */
  readonly start: Date | null;
  /** Exclusive; null for `total`. */
  readonly end: Date | null;
  /** Roll-ups whose sums are the period's. */
  readonly granularity: 'day' | 'month';
}

/** Finds the calendar period that a time is in. */
export function periodAt(period: Period, time: Date): BudgetPeriod {
  const [year, month, day] = [time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate()];
  if (period === 'total') return { start: null, end: null, granularity: 'month' };
  if (period === 'month') {
    const [start, end] = [new Date(Date.UTC(year, month)), new Date(Date.UTC(year, month + 1))];
    return { start, end, granularity: 'month' };
  }
  const today = Date.UTC(year, month, day);
  if (period === 'day') return { start: new Date(today), end: new Date(today + DAY_MS), granularity: 'day' };
  const daysSinceMonday = (time.getUTCDay() - MONDAY + DAYS_OF_WEEK) % DAYS_OF_WEEK;
  const start = today - daysSinceMonday * DAY_MS;
  return { start: new Date(start), end: new Date(start + DAYS_OF_WEEK * DAY_MS), granularity: 'day' };
}

/** Current period of a budget. */
export interface CurrentPeriod {
  readonly budget: Budget | null;
  /** Unix time in milliseconds; null for `total`, and without a budget. */
  readonly start: number | null;
  /** Unix time in milliseconds. */
  readonly end: number;
}

/**
 * Finds the current period of a budget.
 * @param now Unix time in milliseconds
 */
export function currentPeriod(budget: Budget | null, now: number): CurrentPeriod {
  const { start = null, end = null } = budget ? periodAt(budget.period, new Date(now)) : {};
  return { budget, start: start?.getTime() ?? null, end: end?.getTime() ?? Infinity };
}
