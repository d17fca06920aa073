import { endOfLine, readHeaderLines } from '../common/header-lines.js';

/** What comes before the body of an upstream's answer (RFC 9112, sections 4 and 5). */
export interface AnswerHead {
  readonly status: number;
  /** Names (in lower case) and values in turn, as they came; at most one says the length, and only where it counts. */
  readonly headers: readonly string[];
  /** In lower case, with its parameters; empty when there is none. */
  readonly contentType: string;
  readonly encoded: boolean;
  readonly framing: BodyFraming;
  /** Whether the connection can be used again once the answer is complete. */
  readonly persistent: boolean;
}

/** How the end of a body is known: by its length in bytes, by chunks, or by the end of the connection. */
export type BodyFraming = number | 'chunked' | 'close';

export function isEventStream(contentType: string): boolean {
  return contentType.startsWith('text/event-stream');
}

/** The bytes are not an answer in HTTP/1.1. */
export class MalformedAnswer extends Error {}

/** `HTTP/1.1 200 OK`, where nothing but the version and the status counts; and where they are in it. */
const STATUS_LINE = /^HTTP\/1\.[01] [1-9]\d\d(?: |\r\n|$)/;
const MINOR_VERSION = 7;
const STATUS = 9;
const STATUS_END = 12;
const DIGITS = /^\d{1,15}$/;

/**
 * @param text status line and headers, without the empty line
 * @param bodiless whether the request was one whose answers have no body, whatever their headers say
 * @throws MalformedAnswer
 */
export function parseHead(text: string, bodiless: boolean): AnswerHead {
  if (!STATUS_LINE.test(text)) throw new MalformedAnswer();
  const status = Number(text.slice(STATUS, STATUS_END));
  const fields = new HeadFields(text[MINOR_VERSION] === '1');
  const areFields = readHeaderLines(text, endOfLine(text, 0), (_, name, value) => {
    fields.add(name, value);
    return true;
  });
  if (!areFields) throw new MalformedAnswer();
  const hasNoBody = bodiless || status < 200 || status === 204 || status === 304;
  const framing = hasNoBody ? 0 : fields.framing();
  return {
    status,
    headers: fields.headers,
    contentType: fields.contentType,
    encoded: fields.encoded,
    framing,
    persistent: fields.persistent && framing !== 'close',
  };
}

class HeadFields {
  readonly headers: string[] = [];
  contentType = '';
  encoded = false;
  persistent: boolean;
  private length?: string;
  private transferEncoding?: string;

  constructor(persistent: boolean) {
    this.persistent = persistent;
  }

  add(name: string, value: string): void {
    if (name === 'content-length') return this.noteLength(value);
    this.headers.push(name, value);
    if (name === 'content-type') this.contentType = value.toLowerCase();
    else if (name === 'connection') this.persistent &&= !/\bclose\b/i.test(value);
    else if (name === 'content-encoding') this.encoded ||= value !== '' && value.toLowerCase() !== 'identity';
    else if (name === 'transfer-encoding') {
      this.transferEncoding =
        this.transferEncoding === undefined ? value : `${this.transferEncoding}, ${value}`;
    }
  }

  framing(): BodyFraming {
    if (this.transferEncoding !== undefined) {
      if (this.transferEncoding.toLowerCase() !== 'chunked') throw new MalformedAnswer();
      if (this.length !== undefined) this.forgetLength();
      return 'chunked';
    }
    return this.length === undefined ? 'close' : Number(this.length);
  }

  /** The same length again is said once (RFC 9110, section 8.6). */
  private noteLength(value: string): void {
    if (!DIGITS.test(value) || (this.length !== undefined && this.length !== value))
      throw new MalformedAnswer();
    if (this.length === undefined) this.headers.push('content-length', value);
    this.length = value;
  }

  /** Beside `Transfer-Encoding` it does not count, might be an attack, and is not passed on (RFC 9112, section 6.3). */
  private forgetLength(): void {
    this.headers.splice(this.headers.indexOf('content-length'), 2);
    this.persistent = false;
  }
}
