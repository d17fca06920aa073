import { EMPTY_LINE } from '../common/header-lines.js';
import { MalformedAnswer, parseHead } from './answer-head.js';
import type { AnswerHead } from './answer-head.js';
import { EMPTY } from './empty.js';

/** What becomes of the bytes of an answer. */
export interface AnswerSink {
  /** The head of the answer itself; informational ones are not told. */
  head(head: AnswerHead): void;
  /** @param chunk valid until this returns: its memory is that of the next read, too */
  data(chunk: Buffer): void;
  end(): void;
}

const HEAD_START = Buffer.from('HTTP/1.');
const HEAD_LIMIT_BYTES = 65_536;
const SIZE_LINE_LIMIT_BYTES = 4_096;
const SIZE_LIMIT_DIGITS = 12;
const TAB = 9;
const LF = 10;
const CR = 13;
const SPACE = 0x20;
const SEMICOLON = 0x3b;

const enum Expects {
  nothing,
  head,
  counted,
  untilClose,
  chunkSize,
  chunk,
  chunkEnd,
  trailers,
}

/**
 * Reads one answer after the other from the bytes of a connection (RFC 9112). Bodies are handed on in the
 * pieces in which they come. Strict: what could be read in two ways is malformed.
 */
export class AnswerReader {
  private expects = Expects.nothing;
  private bodiless = false;
  /** Whether an informational answer came before the one that is awaited. */
  private isInformed = false;
  /** Of the body, or of its current chunk. */
  private bytesLeft = 0;
  /** The beginning of a head, size line or trailer whose end has not come. */
  private begun = EMPTY;

  constructor(private readonly sink: AnswerSink) {}

  /** Whether a byte of an answer has come that is not complete. */
  get inAnswer(): boolean {
    return this.expects > Expects.head || this.begun.length > 0 || this.isInformed;
  }

  /** The next answer is to a request with this method. */
  begin(method: string): void {
    this.expects = Expects.head;
    this.bodiless = method === 'HEAD';
    this.begun = EMPTY;
    this.isInformed = false;
  }

  /** @throws MalformedAnswer, also for bytes that nobody asked for */
  feed(bytes: Buffer): void {
    let rest = this.begun.length > 0 ? Buffer.concat([this.begun, bytes]) : bytes;
    this.begun = EMPTY;
    while (rest.length > 0) {
      if (this.expects === Expects.nothing) throw new MalformedAnswer();
      const used = this.step(rest);
      if (used < 0) {
        this.begun = Buffer.from(rest);
        return;
      }
      rest = used === rest.length ? EMPTY : rest.subarray(used);
    }
  }

  /** The connection has ended. @returns whether that completes the answer */
  close(): boolean {
    if (this.expects !== Expects.untilClose) return false;
    this.complete();
    return true;
  }

  /** @returns how many bytes were used; -1 when more are needed */
  private step(bytes: Buffer): number {
    switch (this.expects) {
      case Expects.head:
        return this.readHead(bytes);
      case Expects.counted:
      case Expects.chunk:
        return this.readCounted(bytes);
      case Expects.untilClose:
        this.sink.data(bytes);
        return bytes.length;
      case Expects.chunkSize:
        return this.readChunkSize(bytes);
      case Expects.chunkEnd:
        return this.readChunkEnd(bytes);
      default:
        return this.readTrailer(bytes);
    }
  }

  private readHead(bytes: Buffer): number {
    const end = bytes.indexOf(EMPTY_LINE);
    if (end > HEAD_LIMIT_BYTES || (end < 0 && !mayBecomeHead(bytes))) throw new MalformedAnswer();
    if (end < 0) return -1;
    const head = parseHead(bytes.toString('latin1', 0, end), this.bodiless);
    if (head.status === 101) throw new MalformedAnswer(); // nobody asked for another protocol
    if (head.status >= 200) this.beginBody(head);
    else this.isInformed = true;
    return end + EMPTY_LINE.length;
  }

  private beginBody(head: AnswerHead): void {
    const { framing } = head;
    if (framing === 'chunked') this.expects = Expects.chunkSize;
    else if (framing === 'close') this.expects = Expects.untilClose;
    else {
      this.expects = Expects.counted;
      this.bytesLeft = framing;
    }
    this.sink.head(head);
    if (framing === 0) this.complete();
  }

  private readCounted(bytes: Buffer): number {
    const data = bytes.length > this.bytesLeft ? bytes.subarray(0, this.bytesLeft) : bytes;
    this.bytesLeft -= data.length;
    const isComplete = this.bytesLeft === 0;
    const isChunk = this.expects === Expects.chunk;
    if (isComplete && isChunk) this.expects = Expects.chunkEnd;
    this.sink.data(data);
    if (isComplete && !isChunk) this.complete();
    return data.length;
  }

  private readChunkSize(bytes: Buffer): number {
    const end = lineEnd(bytes);
    if (end < 0) return -1;
    const size = chunkSize(bytes, end - 1);
    this.bytesLeft = size;
    this.expects = size === 0 ? Expects.trailers : Expects.chunk;
    return end + 1;
  }

  private readChunkEnd(bytes: Buffer): number {
    if (bytes.length < 2) return -1;
    if (bytes[0] !== CR || bytes[1] !== LF) throw new MalformedAnswer();
    this.expects = Expects.chunkSize;
    return 2;
  }

  /** Trailers are dropped: they belong to the connection to the upstream. */
  private readTrailer(bytes: Buffer): number {
    const end = lineEnd(bytes);
    if (end < 0) return -1;
    if (end === 1) this.complete();
    return end + 1;
  }

  private complete(): void {
    this.expects = Expects.nothing;
    this.sink.end();
  }
}

/** Whether the rest of a head may follow: who has sent something else waits, and nothing more would come. */
function mayBecomeHead(bytes: Buffer): boolean {
  const start = bytes.subarray(0, HEAD_START.length);
  if (bytes.length > HEAD_LIMIT_BYTES || !HEAD_START.subarray(0, start.length).equals(start)) return false;
  for (let end = bytes.indexOf(LF); end >= 0; end = bytes.indexOf(LF, end + 1)) {
    if (bytes[end - 1] !== CR) return false;
  }
  return true;
}

/** Where the line feed of the first line is; -1 when it has not come. */
function lineEnd(bytes: Buffer): number {
  const end = bytes.indexOf(LF);
  if (end > SIZE_LINE_LIMIT_BYTES || (end < 0 && bytes.length > SIZE_LINE_LIMIT_BYTES)) {
    throw new MalformedAnswer();
  }
  if (end === 0 || (end > 0 && bytes[end - 1] !== CR)) throw new MalformedAnswer();
  return end;
}

/** The size at the beginning of a line; extensions are ignored. */
function chunkSize(bytes: Buffer, end: number): number {
  let size = 0;
  let at = 0;
  for (; at < end; at++) {
    const digit = hexDigit(bytes[at]!);
    if (digit < 0) break;
    size = size * 16 + digit;
  }
  if (at === 0 || at > SIZE_LIMIT_DIGITS || !mayFollowSize(bytes, at, end)) throw new MalformedAnswer();
  return size;
}

function mayFollowSize(bytes: Buffer, from: number, end: number): boolean {
  let at = from;
  while (at < end && (bytes[at] === SPACE || bytes[at] === TAB)) at++;
  return at === end || (bytes[at] === SEMICOLON && !bytes.subarray(at, end).includes(CR));
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
