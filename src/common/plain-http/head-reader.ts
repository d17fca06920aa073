import { EMPTY_LINE } from '../header-lines.js';
import { LENGTH, readPlainHead } from './plain-head.js';
import type { PlainHead } from './plain-head.js';

const ZERO = 0x30;
const NINE = 0x39;

/**
 * Reads the plain heads of one connection. A client says the same again and again, but for how long the body is: to
 * see that takes a comparison, where reading takes a twentieth of all that a request costs, or more.
 */
export class HeadReader {
  /** What the last head that was read says. */
  private head?: PlainHead = undefined;
  /** The head itself, with the empty line, at the beginning of a buffer that is used again. */
  private bytes = Buffer.alloc(0);
  /** Where the value of its `Content-Length` stands; behind the head where it has none. */
  private lengthStart = 0;

  /** @param limitBytes of a head */
  constructor(private readonly limitBytes: number) {}

  /** @returns what {@link readPlainHead} does */
  read(bytes: Buffer): PlainHead | undefined {
    const known = this.head && this.again(this.head, bytes);
    if (known) return known;
    const head = readPlainHead(bytes, this.limitBytes);
    if (head) this.remember(head, bytes);
    return head;
  }

  /** Undefined where it is another one than the last, or none. */
  private again(head: PlainHead, bytes: Buffer): PlainHead | undefined {
    const { lengthStart } = this;
    if (!this.agrees(bytes, 0, 0, lengthStart)) return undefined;
    const lastLength = head.headers['content-length'];
    if (lastLength === undefined) return head;
    const end = digitsEnd(bytes, lengthStart);
    if (!this.agrees(bytes, end, lengthStart + lastLength.length, head.headLength)) return undefined;
    const length = bytes.toString('latin1', lengthStart, end);
    if (length === lastLength) return head;
    const headLength = head.headLength + length.length - lastLength.length;
    const isPlain = LENGTH.test(length) && headLength <= this.limitBytes + EMPTY_LINE.length;
    return isPlain ? withLength(head, length, headLength) : undefined;
  }

  /** Whether a part of the last head is there, too. */
  private agrees(bytes: Buffer, at: number, start: number, end: number): boolean {
    const behind = at + end - start;
    return behind <= bytes.length && bytes.compare(this.bytes, start, end, at, behind) === 0;
  }

  private remember(head: PlainHead, bytes: Buffer): void {
    const { headLength } = head;
    if (this.bytes.length < headLength) this.bytes = Buffer.allocUnsafeSlow(headLength);
    bytes.copy(this.bytes, 0, 0, headLength);
    this.head = head;
    this.lengthStart = lengthStartIn(head, bytes);
  }
}

/** Where the value of `Content-Length` stands; behind the head where it has none. */
function lengthStartIn({ rawHeaders, lengthAt, headLength }: PlainHead, bytes: Buffer): number {
  if (lengthAt < 0) return headLength;
  const name = `\r\n${rawHeaders[lengthAt]}:`;
  return bytes.indexOf(rawHeaders[lengthAt + 1]!, bytes.indexOf(name, 0, 'latin1') + name.length, 'latin1');
}

function digitsEnd(bytes: Buffer, from: number): number {
  let end = from;
  while (bytes[end]! >= ZERO && bytes[end]! <= NINE) end++;
  return end;
}

function withLength(head: PlainHead, length: string, headLength: number): PlainHead {
  const headers = { ...head.headers, 'content-length': length };
  const rawHeaders = head.rawHeaders.with(head.lengthAt + 1, length);
  return { ...head, headers, rawHeaders, bodyLength: Number(length), headLength };
}
