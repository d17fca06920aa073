import { detached } from './text.js';

/** Ends a head: the end of its last line, and the line behind it. */
export const EMPTY_LINE = Buffer.from('\r\n\r\n');

/** Control characters, but for the tab. A line feed within a value would end its line for others. */
// eslint-disable-next-line no-control-regex
const FORBIDDEN = /[\0-\x08\n-\x1f\x7f]/;
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const TAB = 0x09;
const LF = 0x0a;
const SPACE = 0x20;

/**
 * Reads the header lines of a head (RFC 9112, section 5).
 * @param text a head, without the empty line
 * @param from where the line with the request or status ends
 * @param each is given the name as it came, the name in lower case, and the value without the blanks around it;
 *   returns whether to go on
 * @returns whether all lines are header lines that end with CRLF, and `each` wanted them all
 */
export function readHeaderLines(
  text: string,
  from: number,
  each: (raw: string, name: string, value: string) => boolean,
): boolean {
  for (let lineEnd = from; lineEnd < text.length;) {
    if (text.charCodeAt(lineEnd + 1) !== LF) return false;
    const at = lineEnd + 2;
    const end = endOfLine(text, at);
    const colon = text.indexOf(':', at);
    if (colon < 0 || colon > end) return false;
    const name = nameOf(text.slice(at, colon));
    const value = valueIn(text, colon + 1, end);
    if (!name || FORBIDDEN.test(value) || !each(name.raw, name.lower, value)) return false;
    lineEnd = end;
  }
  return true;
}

/** Where the line that begins at an index ends: a carriage return has no other place in a head. */
export function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\r', from);
  return end < 0 ? text.length : end;
}

interface HeaderName {
  readonly raw: string;
  readonly lower: string;
}

const KNOWN_NAMES = 1_000;
/** The same few names come again and again. */
const names = new Map<string, HeaderName>();

/** Undefined where it is none. */
function nameOf(text: string): HeaderName | undefined {
  const known = names.get(text);
  if (known) return known;
  if (!TOKEN.test(text)) return undefined;
  const raw = detached(text);
  const name = { raw, lower: raw.toLowerCase() };
  if (names.size < KNOWN_NAMES) names.set(raw, name);
  return name;
}

/** Without the spaces and tabs around it. */
function valueIn(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}
