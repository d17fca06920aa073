import type { ScopeConsumption } from './consumption/scope-consumption.js';
import type { LocalBucket } from './requests/local-bucket.js';

const SECONDS_PER_MINUTE = 60;
const MS_PER_SECOND = 1_000;

/**
 * Headers of the limits of requests and tokens: alternating names and values.
 * @param now time of `performance.now()`
 * @param time Unix time in milliseconds
 */
export function rateLimitHeaders(
  scopes: readonly ScopeConsumption[],
  buckets: readonly LocalBucket[],
  now: number,
  time: number,
): string[] {
  const headers: string[] = [];
  addRequestHeaders(headers, buckets, now);
  addTokenHeaders(headers, scopes, time);
  return headers;
}

/** Adds the headers of the level that allows the fewest further requests. */
function addRequestHeaders(headers: string[], buckets: readonly LocalBucket[], now: number): void {
  let closest: LocalBucket | undefined;
  let fewest = Infinity;
  for (const bucket of buckets) {
    const remaining = bucket.remaining(now);
    if (remaining > fewest || (remaining === fewest && bucket.capacity >= closest!.capacity)) continue;
    closest = bucket;
    fewest = remaining;
  }
  if (closest) addRateLimitHeaders(headers, 'requests', closest.capacity, fewest, closest.resetMs(now));
}

/** Adds the headers of the level that allows the fewest further tokens. */
function addTokenHeaders(headers: string[], scopes: readonly ScopeConsumption[], time: number): void {
  let closest: ScopeConsumption | undefined;
  let [fewest, limit] = [Infinity, Infinity];
  for (const scope of scopes) {
    const { tokensPerMinute } = scope.limits;
    const remaining = tokensPerMinute === null ? Infinity : Math.max(0, tokensPerMinute - scope.tokens(time));
    if (remaining > fewest || (remaining === fewest && tokensPerMinute! >= limit)) continue;
    closest = scope;
    fewest = remaining;
    limit = tokensPerMinute!;
  }
  if (closest && fewest < Infinity)
    addRateLimitHeaders(headers, 'tokens', limit, fewest, closest.resetMs(time));
}

/** Adds the headers of the limits of one kind to alternating names and values. */
function addRateLimitHeaders(
  headers: string[],
  kind: 'requests' | 'tokens',
  limit: number,
  remaining: number,
  resetMs: number,
): void {
  const { limit: limitName, remaining: remainingName, reset } = NAMES[kind];
  headers.push(limitName, String(limit), remainingName, String(remaining), reset, formatDuration(resetMs));
}

const namesOf = (kind: string) => ({
  limit: `x-ratelimit-limit-${kind}`,
  remaining: `x-ratelimit-remaining-${kind}`,
  reset: `x-ratelimit-reset-${kind}`,
});
const NAMES = { requests: namesOf('requests'), tokens: namesOf('tokens') };

/** Writes a duration as the providers do: `12ms`, `7s`, `6m0s`. */
export function formatDuration(ms: number): string {
  const whole = Math.ceil(ms);
  if (whole < MS_PER_SECOND) return `${whole}ms`;
  const seconds = Math.ceil(ms / MS_PER_SECOND);
  if (seconds < SECONDS_PER_MINUTE) return `${seconds}s`;
  return `${Math.floor(seconds / SECONDS_PER_MINUTE)}m${seconds % SECONDS_PER_MINUTE}s`;
}
