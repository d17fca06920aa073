/** Time for which a share may be returned, counted by the clock of the database. Replicas use shares for a shorter time. */
const SHARE_SECONDS = 2;
const MINUTE_SECONDS = 60;

/**
 * Tokens that a bucket gains per second, as a share of its capacity. In any 60 s a bucket grants at most its capacity and
 * the refill of 60 s. Shares that were taken up to 2 s before may be used as well. With a refill over 62 s, the sum is at
 * most twice the capacity.
 */
export const REFILL_PER_SECOND = 1 / (MINUTE_SECONDS + SHARE_SECONDS);

/** Tokens are taken in advance only from this part of what is left. Replicas must not hoard the last tokens. */
const AHEAD_PART = 4;
/** A sum of refills may miss a whole number by a rounding error. */
const ROUNDING = '1e-6';

/** SQL: tokens in the bucket after the refill since its last update, and the return of a share. */
const REFILLED = `least(excluded.capacity, b.tokens + greatest(0, excluded.returned)
  + greatest(0, extract(epoch FROM excluded.updated_at - b.updated_at)) * excluded.capacity * ${REFILL_PER_SECOND})`;
/** SQL: tokens in the bucket, after what was used without the database, too: a negative return. */
const LEVEL = `greatest(0, ${REFILLED} + least(0, excluded.returned))`;
const NEW_LEVEL = 'greatest(0, capacity - debt)';

/** SQL: tokens that are granted, for waiting requests and in advance. */
const granted = (level: string, wanted: string, ahead: string): string =>
  `least(${wanted}, floor(${level} + ${ROUNDING}))
    + least(${ahead}, floor(greatest(0, ${level} - ${wanted}) / ${AHEAD_PART}))`;
const FROM_NEW = granted(NEW_LEVEL, 'wanted', 'ahead');
const FROM_LEVEL = granted(LEVEL, 'excluded.wanted', 'excluded.ahead');

/**
 * Takes tokens from buckets, and returns tokens of shares that were not used. $1 to $7 have an element for each bucket.
 *
 * - $1: name
 * - $2: capacity
 * - $3: tokens for waiting requests
 * - $4: tokens in advance
 * - $5 and $6: returned tokens, and the time at which these were taken
 * - $7: tokens that were used while the database was unreachable
 *
 * Buckets are locked in the order of their names, so that replicas do not deadlock. A new bucket is full.
 */
export const TAKE = {
  name: 'limits.take',
  text: `
    INSERT INTO request_buckets AS b (scope, capacity, tokens, granted, wanted, ahead, returned, updated_at)
    SELECT scope, capacity, ${NEW_LEVEL} - (${FROM_NEW}), ${FROM_NEW}, wanted, ahead,
      CASE WHEN taken_at > statement_timestamp() - interval '${SHARE_SECONDS} seconds' THEN returned ELSE 0 END - debt,
      statement_timestamp()
    FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::timestamptz[], $7::bigint[])
      AS t (scope, capacity, wanted, ahead, returned, taken_at, debt)
    ORDER BY scope
    ON CONFLICT (scope) DO UPDATE SET
      capacity = excluded.capacity,
      tokens = ${LEVEL} - (${FROM_LEVEL}),
      granted = ${FROM_LEVEL},
      updated_at = greatest(b.updated_at, excluded.updated_at)
    RETURNING scope, granted, tokens, updated_at::text AS taken_at`,
};

/** Row of {@link TAKE}. */
export interface TakenRow {
  readonly scope: string;
  /** Tokens that were taken. */
  readonly granted: number;
  /** Tokens that are left in the bucket. */
  readonly tokens: number;
  readonly taken_at: string;
}
