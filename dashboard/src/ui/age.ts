const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const MONTH = 30 * DAY;
const YEAR = 365 * DAY;

const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', YEAR],
  ['month', MONTH],
  ['day', DAY],
  ['hour', HOUR],
  ['minute', MINUTE],
];

const FORMAT = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** Describes the distance between two times in the largest fitting unit, such as `3 hours ago`. */
export function describeAge(time: number, now: number): string {
  const seconds = Math.round((time - now) / 1_000);
  for (const [unit, length] of UNITS) {
    if (Math.abs(seconds) >= length) return FORMAT.format(Math.trunc(seconds / length), unit);
  }
  return seconds > 0 ? 'in less than a minute' : 'just now';
}
