const SECONDS_PER_MINUTE = 60;
const MS_PER_SECOND = 1_000;

/** Adds the headers of the limits of one kind to alternating names and values. */
export function addRateLimitHeaders(
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
