import { EMPTY_LINE, endOfLine, readHeaderLines } from '../header-lines.js';

/** Request line and headers of a request on the fast path. */
export interface RequestHeaders {
  readonly method: string;
  /** Path and query as received. */
  readonly url: string;
  /** Values by names in lower case; every name occurs once. */
  readonly headers: Readonly<Record<string, string>>;
  /** Alternating names and values as received. */
  readonly rawHeaders: readonly string[];
  readonly bodyLength: number;
  /** Bytes before the body, including the empty line. */
  readonly headersLength: number;
}

const REQUEST_LINE = /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) \/[\x21\x22\x24-\x7e]* HTTP\/1\.1$/;
const VERSION_LENGTH = ' HTTP/1.1'.length;
const CONTENT_LENGTH = /^(?:0|[1-9]\d{0,14})$/;
const KEEP_ALIVE = /^keep-alive$/i;
/** Headers that change how the body or the connection is read. */
const UNSUPPORTED = new Set(['transfer-encoding', 'upgrade', 'expect', 'trailer']);

/**
 * Parses the headers of a simple request. All headers are in the buffer, in HTTP/1.1 with one `Host`. No name occurs
 * twice, and every line follows RFC 9112 to the letter, without tabs. The body has a `Content-Length` or is absent, and
 * the connection is kept alive.
 * @param bytes of the connection, from the beginning of the request
 * @param limitBytes of the request line and all headers
 * @returns undefined for any other request, whether it is well-formed or not
 */
export function parseRequestHeaders(bytes: Buffer, limitBytes: number): RequestHeaders | undefined {
  const end = bytes.indexOf(EMPTY_LINE);
  if (end < 0 || end > limitBytes) return undefined;
  const text = bytes.toString('latin1', 0, end);
  if (text.includes('\t')) return undefined; // implementations differ in where they accept a tab
  const lineEnd = endOfLine(text, 0);
  const line = text.slice(0, lineEnd);
  if (!REQUEST_LINE.test(line)) return undefined;
  const headers: Record<string, string> = {};
  const rawHeaders: string[] = [];
  const areSimple = readHeaderLines(text, lineEnd, (raw, name, value) => {
    // Names of members of `Object.prototype` count as repeated, too: Node's parser decides on them.
    if (headers[name] !== undefined || UNSUPPORTED.has(name)) return false;
    headers[name] = value;
    rawHeaders.push(raw, value);
    return true;
  });
  const bodyLength = areSimple ? parseBodyLength(headers) : undefined;
  if (bodyLength === undefined) return undefined;
  const space = line.indexOf(' ');
  const method = line.slice(0, space);
  // Decoded again: a slice would keep all of the text in memory, including the credentials.
  const url = bytes.toString('latin1', space + 1, lineEnd - VERSION_LENGTH);
  return { method, url, headers, rawHeaders, bodyLength, headersLength: end + EMPTY_LINE.length };
}

/** @returns undefined if the request is not simple */
function parseBodyLength(headers: Readonly<Record<string, string>>): number | undefined {
  const { host, connection, 'content-length': length } = headers;
  if (host === undefined) return undefined;
  if (connection !== undefined && !KEEP_ALIVE.test(connection)) return undefined;
  if (length === undefined) return 0;
  return CONTENT_LENGTH.test(length) ? Number(length) : undefined;
}
