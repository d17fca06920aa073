/** Time for which a share may be returned, counted by the clock of the database. Replicas use shares for a shorter time. */
const SHARE_SECONDS = 2;
const MINUTE_SECONDS = 60;

/**
 * Tokens that a bucket gains per second, as a share of its capacity. In any 60 s a bucket grants at most its capacity and
 * the refill of 60 s; shares that were taken up to 2 s before may be used as well. With a refill over 62 s, all of it is
 * at most twice the capacity, however many replicas there are.
 */
export const REFILL_PER_SECOND = 1 / (MINUTE_SECONDS + SHARE_SECONDS);

/** Tokens are taken in advance only from this part of what is left. Replicas must not hoard the last tokens. */
const AHEAD_PART = 4;
/** A sum of refills may miss a whole number by a rounding error. */
const ROUNDING = '1e-6';

/** SQL: tokens in the bucket, after the refill since its last update and the return of a share. */
const LEVEL = `least(excluded.capacity, b.tokens + excluded.returned
  + greatest(0, extract(epoch FROM excluded.updated_at - b.updated_at)) * excluded.capacity * ${REFILL_PER_SECOND})`;

/** SQL: tokens that are granted, for waiting requests and in advance. */
const granted = (level: string, wanted: string, ahead: string): string =>
  `least(${wanted}, floor(${level} + ${ROUNDING}))
    + least(${ahead}, floor(greatest(0, ${level} - ${wanted}) / ${AHEAD_PART}))`;
const FROM_FULL = granted('capacity', 'wanted', 'ahead');
const FROM_LEVEL = granted(LEVEL, 'excluded.wanted', 'excluded.ahead');

/**
 * Takes tokens from buckets, and returns tokens of shares that were not used. $1 to $6 have an element for each bucket: its
 * name, its capacity, the tokens for waiting requests, the tokens in advance, the returned tokens, and the time at which
 * these were taken. Buckets are locked in the order of their names, so that replicas do not deadlock. A new bucket is full.
 */
export const TAKE = {
  name: 'limits.take',
  text: `
    INSERT INTO request_buckets AS b (scope, capacity, tokens, granted, wanted, ahead, returned, updated_at)
    SELECT scope, capacity, capacity - (${FROM_FULL}), ${FROM_FULL}, wanted, ahead,
      CASE WHEN taken_at > statement_timestamp() - interval '${SHARE_SECONDS} seconds' THEN returned ELSE 0 END,
      statement_timestamp()
    FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::timestamptz[])
      AS t (scope, capacity, wanted, ahead, returned, taken_at)
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
