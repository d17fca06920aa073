/** Where the value of a member stands in the text of an object. */
export interface MemberSpan {
  readonly start: number;
  /** Behind its last byte. */
  readonly end: number;
}

/** The text of an object, read only as far as its own members go. */
export interface ObjectText {
  /** Behind the opening brace. */
  readonly contentStart: number;
  readonly isEmpty: boolean;
  /** Those that were wanted. Of one that is there several times, the last one counts, as everywhere. */
  readonly members: ReadonlyMap<string, MemberSpan>;
}

export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
export const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
/** So far, looking at each byte costs less than a search. */
const NEAR_BYTES = 32;
const COMMA = 0x2c;
export const COLON = 0x3a;
/** `m` as `\u006d`. */
const ASCII_ESCAPE = /\\u00([0-7][\da-f])/gi;
const ESCAPE_CHARACTERS = 6;

/**
 * The members of a JSON object, without parsing what is in them: a request holds megabytes of images, of which
 * nothing is needed but where they end.
 * @param wanted names of the members that are told: letters, digits and underscores
 * @returns undefined where the text is not a JSON object. What is below the members is not checked
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

/** @returns where what follows the last one stands; -1 where one is none */
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

/** @returns where what follows the member stands; -1 when there is no member */
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
  if (key !== undefined) members.set(key, { start: valueStart, end: valueEnd });
  return skipSpace(text, valueEnd, to);
}

/** Texts are made of those keys only that may be wanted. What is no key throws nothing: there may be millions. */
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

/** Behind the white space that begins at `from`. */
export function skipSpace(text: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && isSpace(text[at]!)) at++;
  return at;
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Behind the closing quote of the string that begins at `start`; -1 when there is none. */
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

/** Behind the value that begins at `start`; -1 when it has no end. */
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
