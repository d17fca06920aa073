import { detach } from '../common/text/text.js';

/** End of the last header line, and the empty line after it. */
export const EMPTY_LINE = Buffer.from('\r\n\r\n');

/** Control characters except the tab. Other readers would take a line feed within a value for the end of the line. */
// eslint-disable-next-line no-control-regex
const FORBIDDEN = /[\0-\x08\n-\x1f\x7f]/;
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const TAB = 0x09;
const LF = 0x0a;
const SPACE = 0x20;

/**
 * Reads header lines (RFC 9112, section 5).
 * @param text request line or status line and header lines, without the empty line
 * @param from index of the end of the first line
 * @param onHeader gets the name as received, the name in lower case, and the trimmed value; returns false to stop
 * @returns whether every line is a header line that ends with CRLF, and `onHeader` did not stop
 */
export function readHeaderLines(
  text: string,
  from: number,
  onHeader: (raw: string, name: string, value: string) => boolean,
): boolean {
  for (let lineEnd = from; lineEnd < text.length;) {
    if (text.charCodeAt(lineEnd + 1) !== LF) return false;
    const at = lineEnd + 2;
    const end = endOfLine(text, at);
    const colon = text.indexOf(':', at);
    if (colon < 0 || colon > end) return false;
    const name = parseName(text.slice(at, colon));
    const value = trimmedValue(text, colon + 1, end);
    if (!name || FORBIDDEN.test(value) || !onHeader(name.raw, name.lower, value)) return false;
    lineEnd = end;
  }
  return true;
}

/** Index of the end of a line. Header lines contain no carriage return except at their end. */
export function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\r', from);
  return end < 0 ? text.length : end;
}

const KNOWN_NAMES = 1_000;
const KNOWN_NAME_LENGTH = 64;
/** Cache of names, because most requests use the same few. */
const names = new Map<string, HeaderName>();

/** @returns undefined if the text is not a header name */
function parseName(text: string): HeaderName | undefined {
  const known = names.get(text);
  if (known) return known;
  if (!TOKEN.test(text)) return undefined;
  const raw = detach(text);
  const name = { raw, lower: raw.toLowerCase() };
  if (names.size >= KNOWN_NAMES) names.clear(); // random names of one sender must not occupy the cache for good
  if (raw.length <= KNOWN_NAME_LENGTH) names.set(raw, name);
  return name;
}

/** Removes spaces and tabs at both ends. */
function trimmedValue(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}

interface HeaderName {
  readonly raw: string;
  readonly lower: string;
}
