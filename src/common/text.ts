import { isEmail } from 'class-validator';

/** All of it is in the basic plane, so that a code unit is enough to look at. */
const WHITE_SPACE = /[\p{White_Space}\uFEFF]/u;

/**
 * Removes Unicode white space (and a byte order mark) from both ends. From the ends inwards: a pattern that is
 * anchored at the end is tried at every white space within, which takes minutes for a megabyte of it.
 */
export function trimUnicode(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && WHITE_SPACE.test(text[start]!)) start++;
  while (end > start && WHITE_SPACE.test(text[end - 1]!)) end--;
  return text.slice(start, end);
}

/** Whether PostgreSQL can store the text unchanged: no lone surrogates, no U+0000. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** The beginning of a text, with replacement characters for what PostgreSQL cannot store. */
export function storableText(text: string, limit: number): string {
  return text.slice(0, limit).toWellFormed().replaceAll('\0', '\uFFFD');
}

/** Length as people count: code points, not UTF-16 units. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** RFC 5321, sections 4.5.3.1.1 and 4.5.3.1.2: 64 before the @, 255 after. What identity providers may tell us. */
export const EMAIL_MAX_LENGTH = 320;

/** RFC 5321, section 4.5.3.1.3: 256 with its angle brackets. {@link isAddress} takes no longer ones. */
export const ADDRESS_MAX_LENGTH = 254;

const CONTROL_CHARACTER = /\p{Cc}/u;

/**
 * Whether it is an e-mail address that PostgreSQL can store and that mail can be sent to: `isEmail` throws at a lone
 * surrogate, and takes line ends within quotes, which RFC 5321, section 4.1.2, does not.
 */
export function isAddress(text: string): boolean {
  return isStorableText(text) && !CONTROL_CHARACTER.test(text) && isEmail(text);
}

/** The one character beyond ASCII whose lower case is in it: with it, one mailbox would pass for another. */
const KELVIN_SIGN = '\u212A';

/** What e-mail addresses are compared by: trimmed, and case does not count. */
export function emailKey(email: string): string {
  const parts = trimUnicode(email).split(KELVIN_SIGN);
  return parts.map((part) => part.toLowerCase()).join(KELVIN_SIGN);
}

/** The same text in memory of its own: a part of a string may hold on to all of it, and to the secrets in it. */
export function detached(text: string): string {
  return Buffer.from(text).toString();
}

/** A character of UTF-8 (RFC 3629, section 4), encoded. */
const ENCODED_CHARACTER = new RegExp(
  [
    '%[0-7][0-9a-f]',
    '%(?:c[2-9a-f]|d[0-9a-f])TAIL',
    '%(?:e0%[ab][0-9a-f]|e[1-9abcef]TAIL|ed%[89][0-9a-f])TAIL',
    '%(?:f0%[9ab][0-9a-f]|f[1-3]TAIL|f4%8[0-9a-f])TAILTAIL',
  ]
    .join('|')
    .replaceAll('TAIL', '%[89ab][0-9a-f]'),
  'gi',
);

/** Whether every percent sign in it begins an encoded character. To try and fail takes ten times as long. */
export function isDecodable(text: string): boolean {
  return !text.replace(ENCODED_CHARACTER, '').includes('%');
}
