/** What comes before the body of an upstream's answer (RFC 9112, sections 4 and 5). */
export interface AnswerHead {
  readonly status: number;
  /** Names (in lower case) and values in turn, as they came. */
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

/** The bytes are not an answer in HTTP/1.1. */
export class MalformedAnswer extends Error {}

/** Control characters, which would end a header early on the way to the client. */
// eslint-disable-next-line no-control-regex
const FORBIDDEN = /[\0-\x08\n\x0b-\x1f\x7f]/;
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/;
const DIGITS = /^\d{1,15}$/;

/**
 * @param text status line and headers, without the empty line
 * @param bodiless whether the request was one whose answers have no body, whatever their headers say
 * @throws MalformedAnswer
 */
export function parseHead(text: string, bodiless: boolean): AnswerHead {
  const lines = text.split('\r\n');
  const match = STATUS_LINE.exec(lines[0]!);
  if (!match) throw new MalformedAnswer();
  const status = Number(match[2]);
  const fields = new HeadFields(match[1] === '1');
  for (let i = 1; i < lines.length; i++) fields.add(lines[i]!);
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

  add(line: string): void {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (colon < 1 || !TOKEN.test(name) || FORBIDDEN.test(value)) throw new MalformedAnswer();
    this.headers.push(name, value);
    this.note(name, value);
  }

  framing(): BodyFraming {
    if (this.transferEncoding !== undefined) {
      if (this.transferEncoding.toLowerCase() !== 'chunked') throw new MalformedAnswer();
      if (this.length !== undefined) this.persistent = false; // RFC 9112, 6.1: might be an attack
      return 'chunked';
    }
    return this.length === undefined ? 'close' : Number(this.length);
  }

  private note(name: string, value: string): void {
    if (name === 'content-length') this.noteLength(value);
    else if (name === 'content-type') this.contentType = value.toLowerCase();
    else if (name === 'connection') this.persistent &&= !/\bclose\b/i.test(value);
    else if (name === 'content-encoding') this.encoded ||= value !== '' && value.toLowerCase() !== 'identity';
    else if (name === 'transfer-encoding') {
      this.transferEncoding =
        this.transferEncoding === undefined ? value : `${this.transferEncoding}, ${value}`;
    }
  }

  private noteLength(value: string): void {
    if (!DIGITS.test(value) || (this.length !== undefined && this.length !== value))
      throw new MalformedAnswer();
    this.length = value;
  }
}
