const MINUTE_SECONDS = 60;

/** Age of an event: `just now`, `40 seconds ago`, `3 minutes ago`. */
export function formatAge(seconds: number): string {
  if (seconds < 5) return 'just now';
  return `${seconds < MINUTE_SECONDS ? formatCount(seconds, 'second') : formatCount(Math.floor(seconds / MINUTE_SECONDS), 'minute')} ago`;
}

/** Remaining time, rounded down: `40 seconds`, `9 minutes`. */
export function formatRemaining(seconds: number): string {
  if (seconds < 2 * MINUTE_SECONDS) return formatCount(Math.max(0, seconds), 'second');
  return formatCount(Math.floor(seconds / MINUTE_SECONDS), 'minute');
}

/** Waiting time, rounded up. */
export function formatWait(seconds: number): string {
  if (seconds < 2 * MINUTE_SECONDS) return formatRemaining(seconds);
  return formatCount(Math.ceil(seconds / MINUTE_SECONDS), 'minute');
}

function formatCount(number: number, unit: string): string {
  return `${number} ${unit}${number === 1 ? '' : 's'}`;
}
