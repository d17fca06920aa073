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

const WORDS = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
/** `next month` could mean a day or sixty, so longer units are numbers. */
const NUMBERS = new Intl.RelativeTimeFormat('en');

/** Describes the distance between two times in the largest fitting unit, such as `3 hours ago`. */
export function describeAge(time: number, now: number): string {
  const seconds = Math.round((time - now) / 1_000);
  for (const [unit, length] of UNITS) {
    if (Math.abs(seconds) >= length)
      return (unit === 'day' ? WORDS : NUMBERS).format(Math.trunc(seconds / length), unit);
  }
  return seconds > 0 ? 'in less than a minute' : 'just now';
}
