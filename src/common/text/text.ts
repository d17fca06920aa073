import { isEmail } from 'class-validator';

/** White space is in the basic plane only, so that one code unit is enough to test. */
const WHITE_SPACE = /[\p{White_Space}\uFEFF]/u;

/**
 * Removes Unicode white space and byte order marks from both ends. A regular expression with an anchor at the end would
 * start at every white space, and take minutes for a megabyte.
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

/** Cuts a text, and replaces characters that PostgreSQL cannot store. @param limit in UTF-16 units */
export function storableText(text: string, limit: number): string {
  return text.slice(0, limit).toWellFormed().replaceAll('\0', '\uFFFD');
}

/** Counts code points. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** Returns the first code points. The time does not depend on the length of the text. */
export function firstCodePoints(text: string, count: number): string {
  if (text.length <= count) return text;
  let end = 0;
  for (let i = 0; i < count && end < text.length; i++) end += text.codePointAt(end)! > 0xff_ff ? 2 : 1;
  return text.slice(0, end);
}

/** RFC 5321, sections 4.5.3.1.1 and 4.5.3.1.2: 64 before the @, 255 after. Limit for the claims of identity providers. */
export const EMAIL_MAX_LENGTH = 320;

/** RFC 5321, section 4.5.3.1.3: 256 with its angle brackets. {@link isAddress} accepts no longer ones. */
export const ADDRESS_MAX_LENGTH = 254;

const CONTROL_CHARACTER = /\p{Cc}/u;

/**
 * Whether the text is an e-mail address that PostgreSQL can store and an SMTP server accepts. `isEmail` throws at a lone
 * surrogate, and accepts line ends within quotes, which RFC 5321, section 4.1.2, forbids.
 */
export function isAddress(text: string): boolean {
  return isStorableText(text) && !CONTROL_CHARACTER.test(text) && isEmail(text);
}

/** The only other character with an ASCII lower case. Lower-casing it would make two mailboxes equal. */
const KELVIN_SIGN = '\u212A';

/** Normalizes an e-mail address for comparisons: trimmed, in lower case. */
export function emailKey(email: string): string {
  const parts = trimUnicode(email).split(KELVIN_SIGN);
  return parts.map((part) => part.toLowerCase()).join(KELVIN_SIGN);
}

/** Copies a text into its own memory. A slice may keep the complete string in memory, with the secrets in it. */
export function detach(text: string): string {
  return Buffer.from(text).toString();
}

/** Percent-encoded character of UTF-8 (RFC 3629, section 4). */
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

/** Whether every percent sign begins an encoded character. Catching the error of a decoder takes ten times as long. */
export function isDecodable(text: string): boolean {
  return !text.replace(ENCODED_CHARACTER, '').includes('%');
}
