import type { LimitScope } from '../rules/applied-limits.js';
import { periodAt } from '../rules/budget-period.js';
import type { Period } from '../rules/limit-set.js';

/** Tokens of requests that ended within so many seconds count towards the limit of tokens. */
export const WINDOW_SECONDS = 60;

/** Query for the consumption of one scope. */
export interface ScopeQuery extends LimitScope {
  readonly countsTokens: boolean;
  /** Null without a budget. */
  readonly period: Period | null;
}

/** Query for the sums of a scope. */
export interface LoadQuery extends ScopeQuery {
  /** Unix time in milliseconds. */
  readonly at: number;
  /** Start of the period at that time; null for `total`, and without a budget. */
  readonly start: number | null;
}

const OF_SCOPE = `organization_id = s.organization_id AND (s.user_id IS NULL OR user_id = s.user_id)
  AND (s.key_id IS NULL OR key_id = s.key_id)`;

/**
 * Reads the tokens of the last minute by second, and the costs of the current period, for each scope in $1. Costs are the
 * sums of the roll-ups of the period.
 */
export const CONSUMPTION = {
  name: 'limits.consumption',
  text: `
    SELECT s.scope,
      CASE WHEN s.counts_tokens THEN (
        SELECT coalesce(json_agg(json_build_array(extract(epoch FROM second)::bigint, tokens) ORDER BY second), '[]')
        FROM (
          SELECT second, sum(tokens)::bigint AS tokens FROM usage_recent
          WHERE second > now() - interval '${WINDOW_SECONDS} seconds' AND ${OF_SCOPE} GROUP BY second
        ) AS seconds
      ) END AS tokens,
      CASE WHEN s.granularity IS NOT NULL THEN (
        SELECT coalesce(sum(cost_usd), 0) FROM usage_rollups
        WHERE granularity = s.granularity AND start >= coalesce(s.start, '-infinity')
          AND start < coalesce(s.ends, 'infinity') AND ${OF_SCOPE}
      ) END AS spent
    FROM jsonb_to_recordset($1::jsonb) AS s (scope text, organization_id bigint, user_id text COLLATE "C", key_id bigint,
      counts_tokens boolean, granularity text COLLATE "C", start timestamptz, ends timestamptz)`,
};

/** Row of {@link CONSUMPTION}. */
export interface ConsumptionRow {
  readonly scope: string;
  /** Unix time in seconds and tokens; null if tokens do not count. */
  readonly tokens: readonly (readonly [second: number, tokens: number])[] | null;
  /** USD; null without a budget. */
  readonly spent: number | null;
}

/** Creates the parameter of {@link CONSUMPTION}. */
export function consumptionValues(scopes: readonly ScopeQuery[], now: Date): [string] {
  const records = scopes.map(({ name, organizationId, userId, keyId, countsTokens, period }) => {
    const { start = null, end = null, granularity = null } = period === null ? {} : periodAt(period, now);
    const scope = { scope: name, organization_id: organizationId, user_id: userId, key_id: keyId };
    return { ...scope, counts_tokens: countsTokens, granularity, start, ends: end };
  });
  return [JSON.stringify(records)];
}

/** Deletes tokens that no longer count. Rows that are being updated are skipped: a write must not wait for a job. */
export const DELETE_OLD = {
  name: 'limits.delete-old',
  text: `DELETE FROM usage_recent WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM usage_recent WHERE second < now() - interval '5 minutes' FOR UPDATE SKIP LOCKED))`,
};
