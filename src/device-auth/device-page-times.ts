const MINUTE_SECONDS = 60;

/** `just now`, `40 seconds ago`, `3 minutes ago`. */
export function ago(seconds: number): string {
  if (seconds < 5) return 'just now';
  return `${seconds < MINUTE_SECONDS ? count(seconds, 'second') : count(Math.floor(seconds / MINUTE_SECONDS), 'minute')} ago`;
}

/** `40 seconds`, `9 minutes`; never more than there are. */
export function remaining(seconds: number): string {
  if (seconds < 2 * MINUTE_SECONDS) return count(Math.max(0, seconds), 'second');
  return count(Math.floor(seconds / MINUTE_SECONDS), 'minute');
}

/** Like {@link remaining}, but never less than it takes. */
export function waiting(seconds: number): string {
  if (seconds < 2 * MINUTE_SECONDS) return remaining(seconds);
  return count(Math.ceil(seconds / MINUTE_SECONDS), 'minute');
}

function count(number: number, unit: string): string {
  return `${number} ${unit}${number === 1 ? '' : 's'}`;
}
