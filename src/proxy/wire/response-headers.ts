import { endOfLine, readHeaderLines } from '../../http/header-lines.js';
import type { HeaderBudget } from './header-budget.js';
import { MalformedResponse } from './malformed-response.js';

/** Matches `HTTP/1.1 200 OK`. The reason phrase is ignored. */
const STATUS_LINE = /^HTTP\/1\.[01] [1-9]\d\d(?: |\r\n|$)/;
/** Positions in the status line. */
const MINOR_VERSION = 7;
const STATUS = 9;
const STATUS_END = 12;
const DIGITS = /^\d{1,15}$/;

/**
 * Parses the headers of a response.
 * @param text status line and headers, without the empty line
 * @param isHeadRequest whether the response has no body in spite of its headers
 * @param budget limit for the header fields
 * @throws MalformedResponse
 */
export function parseResponseHeaders(
  text: string,
  isHeadRequest: boolean,
  budget: HeaderBudget,
): ResponseHeaders {
  if (!STATUS_LINE.test(text)) throw new MalformedResponse();
  const status = Number(text.slice(STATUS, STATUS_END));
  const fields = new HeaderFields(text[MINOR_VERSION] === '1');
  const areValid = readHeaderLines(text, endOfLine(text, 0), (_, name, value) => {
    budget.takeField();
    fields.add(name, value);
    return true;
  });
  if (!areValid) throw new MalformedResponse();
  const hasNoBody = isHeadRequest || status < 200 || status === 204 || status === 304;
  if (status === 204) fields.dropLength(); // RFC 9110, section 8.6
  const framing = hasNoBody ? 0 : fields.parseFraming();
  return {
    status,
    rawHeaders: fields.rawHeaders,
    contentType: fields.contentType,
    isEncoded: fields.isEncoded,
    framing,
    isPersistent: fields.isPersistent && framing !== 'close',
  };
}

/** Status line and headers of an upstream response (RFC 9112, sections 4 and 5). */
export interface ResponseHeaders {
  readonly status: number;
  /** Alternating names (in lower case) and values. Contains `content-length` at most once, and only if it is valid. */
  readonly rawHeaders: readonly string[];
  /** Value of `Content-Type` in lower case, with parameters; empty if missing. */
  readonly contentType: string;
  readonly isEncoded: boolean;
  readonly framing: BodyFraming;
  /** Whether the connection can be reused after the response. */
  readonly isPersistent: boolean;
}

/** End of the body: after a number of bytes, after the last chunk, or with the connection. */
type BodyFraming = number | 'chunked' | 'close';

export function isEventStream(contentType: string): boolean {
  return contentType.startsWith('text/event-stream');
}

class HeaderFields {
  readonly rawHeaders: string[] = [];
  contentType = '';
  isEncoded = false;
  isPersistent: boolean;
  private length?: string;
  private transferEncoding?: string;

  constructor(isPersistent: boolean) {
    this.isPersistent = isPersistent;
  }

  add(name: string, value: string): void {
    if (name === 'content-length') return this.addLength(value);
    this.rawHeaders.push(name, value);
    if (name === 'content-type') this.contentType = value.toLowerCase();
    else if (name === 'connection') this.isPersistent &&= !/\bclose\b/i.test(value);
    else if (name === 'content-encoding')
      this.isEncoded ||= value !== '' && value.toLowerCase() !== 'identity';
    else if (name === 'transfer-encoding') {
      this.transferEncoding =
        this.transferEncoding === undefined ? value : `${this.transferEncoding}, ${value}`;
    }
  }

  parseFraming(): BodyFraming {
    if (this.transferEncoding !== undefined) {
      if (this.transferEncoding.toLowerCase() !== 'chunked') throw new MalformedResponse();
      if (this.length !== undefined) this.ignoreLength();
      return 'chunked';
    }
    return this.length === undefined ? 'close' : Number(this.length);
  }

  dropLength(): void {
    const at = this.rawHeaders.indexOf('content-length');
    if (at >= 0) this.rawHeaders.splice(at, 2);
  }

  /** Merges equal lengths into one and rejects different ones (RFC 9110, section 8.6). */
  private addLength(value: string): void {
    if (!DIGITS.test(value) || (this.length !== undefined && this.length !== value))
      throw new MalformedResponse();
    if (this.length === undefined) this.rawHeaders.push('content-length', value);
    this.length = value;
  }

  /** Drops the length of a chunked body, which may be an attempt at response splitting (RFC 9112, section 6.3). */
  private ignoreLength(): void {
    this.dropLength();
    this.isPersistent = false;
  }
}
