import { InvalidRequest } from '../flow/device-auth.errors.js';
import type { UsageQuery } from '../../usage/query/usage-query.js';

/** Largest value of `usage_days`. */
export const USAGE_DAYS_MAX = 90;

const DAY_MS = 24 * 3_600_000;
const WHOLE_NUMBER = /^[1-9]\d?$/;

/**
 * Parses the form field `usage_days`.
 * @throws InvalidRequest
 */
export function parseUsageDays(text: string | null): number | undefined {
  if (text === null) return undefined;
  const days = WHOLE_NUMBER.test(text) ? Number(text) : NaN;
  if (days <= USAGE_DAYS_MAX) return days;
  throw new InvalidRequest(`usage_days must be a whole number from 1 to ${USAGE_DAYS_MAX}`);
}

/** Creates the query for a key's usage by model on the last calendar days (UTC), today included. */
export function keyUsageQuery(keyId: number, days: number, now: Date): UsageQuery {
  const today = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate());
  return {
    from: new Date(today - (days - 1) * DAY_MS),
    to: now,
    filters: { key: [String(keyId)] },
    bucket: 'day',
    groupBy: ['model'],
    now,
  };
}
