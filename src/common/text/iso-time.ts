import { isISO8601 } from 'class-validator';

/** A date, or a time with a time zone. */
const ISO_TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d))?$/;

/** Range of years with four digits that PostgreSQL supports; it has no year 0. */
const [FIRST_YEAR, LAST_YEAR] = [1, 9999];

/**
 * Parses an ISO 8601 date, which means midnight UTC, or a time with a time zone.
 * @returns undefined for other formats, for years outside 1 to 9999 in UTC, and for days that do not exist. `Date` alone
 *   would accept the 30th of February.
 */
export function parseIsoTime(text: string): Date | undefined {
  if (!ISO_TIME.test(text) || !isISO8601(text, { strict: true })) return undefined;
  const time = new Date(text);
  const year = time.getUTCFullYear();
  return year >= FIRST_YEAR && year <= LAST_YEAR ? time : undefined;
}
