import { isISO8601 } from 'class-validator';

/** A date, or a time with a time zone. */
const ISO_TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d))?$/;

/** Of those that are written with four digits, and that PostgreSQL knows: it has no year 0. */
const [FIRST_YEAR, LAST_YEAR] = [1, 9999];

/**
 * Reads a time as ISO 8601 has it: a date, which begins at midnight UTC, or a time with a time zone.
 * @returns undefined for anything else, for what is not in the years 1 to 9999 in UTC, and for a day that is not in the
 * calendar, of which `Date` makes another one
 */
export function parseIsoTime(text: string): Date | undefined {
  if (!ISO_TIME.test(text) || !isISO8601(text, { strict: true })) return undefined;
  const time = new Date(text);
  const year = time.getUTCFullYear();
  return year >= FIRST_YEAR && year <= LAST_YEAR ? time : undefined;
}
