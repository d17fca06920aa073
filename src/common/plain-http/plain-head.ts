import { EMPTY_LINE, endOfLine, readHeaderLines } from '../header-lines.js';

/** What comes before the body of a plain request. */
export interface PlainHead {
  readonly method: string;
  /** Path and query, as they came. */
  readonly url: string;
  /** By their names in lower case, each of which is there once. */
  readonly headers: Readonly<Record<string, string>>;
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[];
  /** Where among these the name of `Content-Length` stands; -1 where there is none. */
  readonly lengthAt: number;
  readonly bodyLength: number;
  /** With the empty line. */
  readonly headLength: number;
}

const REQUEST_LINE = /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) \/[\x21\x22\x24-\x7e]* HTTP\/1\.1$/;
const VERSION_LENGTH = ' HTTP/1.1'.length;
/** What `Content-Length` says in a plain head. */
export const LENGTH = /^(?:0|[1-9]\d{0,14})$/;
const KEEP_ALIVE = /^keep-alive$/i;
/** They say that there is more to a request than head and body. */
const NOT_PLAIN = new Set(['transfer-encoding', 'upgrade', 'expect', 'trailer']);

/**
 * Reads the head of a request that leaves nothing to be decided: all of the head is here, in HTTP/1.1 with one
 * `Host`, every header once, by the letter of RFC 9112 and without tabs, a body of a known length or none, and a
 * connection that is to be kept.
 * @param bytes of the connection, from the beginning of the request
 * @param limitBytes of the head
 * @returns undefined for any other request, whether it is well-formed or not
 */
export function readPlainHead(bytes: Buffer, limitBytes: number): PlainHead | undefined {
  const end = bytes.indexOf(EMPTY_LINE);
  if (end < 0 || end > limitBytes) return undefined;
  const text = bytes.toString('latin1', 0, end);
  if (text.includes('\t')) return undefined; // a blank, but not everywhere for everybody
  const lineEnd = endOfLine(text, 0);
  const line = text.slice(0, lineEnd);
  if (!REQUEST_LINE.test(line)) return undefined;
  const headers: Record<string, string> = {};
  const rawHeaders: string[] = [];
  let lengthAt = -1;
  const arePlain = readHeaderLines(text, lineEnd, (raw, name, value) => {
    // Names that every object has count as there, too: they are for others to decide.
    if (headers[name] !== undefined || NOT_PLAIN.has(name)) return false;
    headers[name] = value;
    if (name === 'content-length') lengthAt = rawHeaders.length;
    rawHeaders.push(raw, value);
    return true;
  });
  const bodyLength = arePlain ? bodyLengthOf(headers) : undefined;
  if (bodyLength === undefined) return undefined;
  const space = line.indexOf(' ');
  const method = line.slice(0, space);
  // A string of its own: a part of the text would hold on to all of it, with the credentials in it.
  const url = bytes.toString('latin1', space + 1, lineEnd - VERSION_LENGTH);
  return { method, url, headers, rawHeaders, lengthAt, bodyLength, headLength: end + EMPTY_LINE.length };
}

/** Undefined where the request is not plain. */
function bodyLengthOf(headers: Readonly<Record<string, string>>): number | undefined {
  const { host, connection, 'content-length': length } = headers;
  if (host === undefined) return undefined;
  if (connection !== undefined && !KEEP_ALIVE.test(connection)) return undefined;
  if (length === undefined) return 0;
  return LENGTH.test(length) ? Number(length) : undefined;
}
