export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
export const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
/** Up to this length, a loop over the bytes is cheaper than `indexOf`. */
const NEAR_BYTES = 32;
const COMMA = 0x2c;
export const COLON = 0x3a;
/** Escaped ASCII character, such as `\u006d` for `m`. */
const ASCII_ESCAPE = /\\u00([0-7][\da-f])/gi;
const ESCAPE_CHARACTERS = 6;

/**
 * Finds members of a JSON object without parsing their values. A request may contain megabytes of images, of which only
 * the end is needed.
 * @param wanted names of the members to find; letters, digits and underscores only
 * @returns undefined if the text is not a JSON object; nested values are not validated
 */
export function readObject(
  text: Buffer,
  wanted: readonly string[],
  from = 0,
  to = text.length,
): ObjectText | undefined {
  const start = skipSpace(text, from, to);
  if (text[start] !== OPEN_BRACE) return undefined;
  const members = new Map<string, MemberSpan>();
  const first = skipSpace(text, start + 1, to);
  const isEmpty = text[first] === CLOSE_BRACE;
  const end = isEmpty ? first : readMembers(text, first, to, wanted, members);
  const isWhole = end > 0 && text[end] === CLOSE_BRACE && skipSpace(text, end + 1, to) === to;
  return isWhole ? { contentStart: start + 1, isEmpty, members } : undefined;
}

/** @returns position after the last member; -1 if a member is malformed */
function readMembers(
  text: Buffer,
  first: number,
  to: number,
  wanted: readonly string[],
  members: Map<string, MemberSpan>,
): number {
  let end = readMember(text, first, to, wanted, members);
  while (end > 0 && text[end] === COMMA) {
    end = readMember(text, skipSpace(text, end + 1, to), to, wanted, members);
  }
  return end;
}

/** @returns position after the member; -1 if there is no member */
function readMember(
  text: Buffer,
  start: number,
  to: number,
  wanted: readonly string[],
  members: Map<string, MemberSpan>,
): number {
  const keyEnd = text[start] === QUOTE ? stringEnd(text, start) : -1;
  if (keyEnd < 0) return -1;
  const colon = skipSpace(text, keyEnd, to);
  if (text[colon] !== COLON) return -1;
  const valueStart = skipSpace(text, colon + 1, to);
  const valueEnd = skipValue(text, valueStart, to);
  if (valueEnd <= valueStart || valueEnd > to) return -1;
  const key = wantedKey(text, start + 1, keyEnd - 1, wanted);
  if (key !== undefined) {
    members.set(key, { start: valueStart, end: valueEnd, isRepeated: members.has(key) });
  }
  return skipSpace(text, valueEnd, to);
}

/** Decodes only keys of a suitable length. Malformed keys do not throw, because there may be millions of them. */
function wantedKey(text: Buffer, start: number, end: number, wanted: readonly string[]): string | undefined {
  const length = end - start;
  const mayBe = (key: string) => length >= key.length && length <= key.length * ESCAPE_CHARACTERS;
  if (!wanted.some(mayBe)) return undefined;
  if (!hasEscape(text, start, end)) return wanted.find((key) => key === text.toString('latin1', start, end));
  const key = text.toString('latin1', start, end).replace(ASCII_ESCAPE, (_, code: string) => {
    return String.fromCharCode(Number.parseInt(code, 16));
  });
  return wanted.includes(key) ? key : undefined;
}

function hasEscape(text: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (text[at] === BACKSLASH) return true;
  return false;
}

/** @returns position after the white space at `from` */
export function skipSpace(text: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && isSpace(text[at]!)) at++;
  return at;
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** @returns position after the string at `start`; -1 if the string has no end */
function stringEnd(text: Buffer, start: number): number {
  const near = Math.min(text.length, start + NEAR_BYTES);
  let at = start + 1;
  for (; at < near; at++) {
    if (text[at] === QUOTE) return at + 1;
    if (text[at] === BACKSLASH) at++;
  }
  return farStringEnd(text, at);
}

function farStringEnd(text: Buffer, from: number): number {
  let at = from - 1;
  for (;;) {
    at = text.indexOf(QUOTE, at + 1);
    if (at < 0) return -1;
    let backslashes = 0;
    while (text[at - 1 - backslashes] === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return at + 1;
  }
}

/** @returns position after the value at `start`; -1 if the value has no end */
export function skipValue(text: Buffer, start: number, to: number): number {
  const first = text[start];
  if (first === QUOTE) return stringEnd(text, start);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return skipContainer(text, start, to);
  let at = start;
  while (at < to && !isDelimiter(text[at]!)) at++;
  return at;
}

function isDelimiter(byte: number): boolean {
  return byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || isSpace(byte);
}

function skipContainer(text: Buffer, start: number, to: number): number {
  let depth = 0;
  let at = start;
  while (at < to) {
    const byte = text[at]!;
    if (byte === QUOTE) {
      at = stringEnd(text, at);
      if (at < 0) return -1;
      continue;
    }
    at++;
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && --depth === 0) return at;
  }
  return -1;
}

/** Members of a JSON object, as positions in its text. */
export interface ObjectText {
  /** Position after the opening brace. */
  readonly contentStart: number;
  readonly isEmpty: boolean;
  /** Wanted members. The last member of a name counts, as with `JSON.parse`. */
  readonly members: ReadonlyMap<string, MemberSpan>;
}

/** Position of a member's value. */
export interface MemberSpan {
  readonly start: number;
  /** Position after the last byte. */
  readonly end: number;
  /** Whether an earlier member has the same name. */
  readonly isRepeated: boolean;
}
