import type { ChunkCoalescer } from './chunk-coalescer.js';
import type { HeaderBudget } from './header-budget.js';
import { MalformedResponse } from './malformed-response.js';

const SIZE_LINE_LIMIT_BYTES = 4_096;
const SIZE_LIMIT_DIGITS = 12;
/** Sizes with more digits are left to the byte-by-byte reader, because they do not belong to small chunks. */
const SMALL_SIZE_DIGITS = 3;
/** Longest size line of a small chunk. Keeps the indexes of {@link ChunkReader.readSmall} within the read. */
const SMALL_LINE_BYTES = SMALL_SIZE_DIGITS + 2;
const TAB = 9;
const LF = 10;
const CR = 13;
const SPACE = 0x20;
const SEMICOLON = 0x3b;

/** Values of the hexadecimal digits by byte; -1 for all other bytes. */
const HEX_DIGITS = Int8Array.from({ length: 256 }, (_, byte) => {
  const text = String.fromCharCode(byte);
  return /[\da-f]/i.test(text) ? Number.parseInt(text, 16) : -1;
});

const enum Expects {
  size,
  /** White space, an extension or the line end after a size. */
  sizeEnd,
  extension,
  sizeLf,
  data,
  dataCr,
  dataLf,
  trailerLine,
  trailer,
  nothing,
}

/**
 * Reads one body in the chunked transfer coding (RFC 9112, section 7.1). Reads every byte once, so that the cost per
 * byte does not depend on the packets. Drops trailers, because they belong to the connection to the upstream.
 */
export class ChunkReader {
  private expects = Expects.nothing;
  private size = 0;
  private digits = 0;
  private lineBytes = 0;
  private bytesLeft = 0;
  /** Last byte of a trailer line. */
  private last = 0;

  constructor(
    private readonly coalescer: ChunkCoalescer,
    private readonly budget: HeaderBudget,
  ) {}

  get isComplete(): boolean {
    return this.expects === Expects.nothing;
  }

  begin(): void {
    this.expectSize();
  }

  /** @returns the index after the last byte of the body @throws MalformedResponse */
  read(bytes: Buffer, from: number): number {
    let at = from;
    while (at < bytes.length && this.expects !== Expects.nothing) {
      if (this.expects === Expects.data) at = this.readData(bytes, at);
      else {
        if (this.expects === Expects.size && this.digits === 0) at = this.readSmall(bytes, at);
        if (at < bytes.length) this.readByte(bytes[at++]!);
      }
    }
    return at;
  }

  /**
   * Reads small chunks that lie completely in this read and have neither white space nor an extension.
   * @returns the index of the first byte that was not read
   */
  private readSmall(bytes: Buffer, from: number): number {
    const { coalescer } = this;
    const { length } = bytes;
    let at = from;
    while (at + SMALL_LINE_BYTES < length) {
      let size = 0;
      let lineEnd = at;
      for (let digit; lineEnd - at < SMALL_SIZE_DIGITS; lineEnd++) {
        digit = HEX_DIGITS[bytes[lineEnd]!]!;
        if (digit < 0) break;
        size = size * 16 + digit;
      }
      const start = lineEnd + 2;
      const end = start + size;
      if (size === 0 || end + 2 > length || bytes[lineEnd] !== CR || bytes[lineEnd + 1] !== LF) break;
      if (bytes[end] !== CR || bytes[end + 1] !== LF) break;
      coalescer.add(bytes, start, end);
      at = end + 2;
    }
    return at;
  }

  private readData(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.bytesLeft);
    this.bytesLeft -= end - at;
    if (this.bytesLeft === 0) this.expects = Expects.dataCr;
    this.coalescer.add(bytes, at, end);
    return end;
  }

  private readByte(byte: number): void {
    switch (this.expects) {
      case Expects.size:
        return this.readSize(byte);
      case Expects.sizeEnd:
      case Expects.extension:
        return this.readSizeEnd(byte);
      case Expects.sizeLf:
        this.require(byte, LF);
        return this.expectData();
      case Expects.dataCr:
        this.require(byte, CR);
        this.expects = Expects.dataLf;
        return;
      case Expects.dataLf:
        this.require(byte, LF);
        return this.expectSize();
      default:
        return this.readTrailer(byte);
    }
  }

  private require(byte: number, expected: number): void {
    if (byte !== expected) throw new MalformedResponse();
  }

  private expectSize(): void {
    this.expects = Expects.size;
    this.size = 0;
    this.digits = 0;
    this.lineBytes = 0;
  }

  private readSize(byte: number): void {
    const digit = HEX_DIGITS[byte]!;
    if (digit < 0) {
      if (this.digits === 0) throw new MalformedResponse();
      this.expects = Expects.sizeEnd;
      return this.readSizeEnd(byte);
    }
    this.size = this.size * 16 + digit;
    if (++this.digits > SIZE_LIMIT_DIGITS) throw new MalformedResponse();
  }

  /** Extensions are ignored. */
  private readSizeEnd(byte: number): void {
    if (++this.lineBytes > SIZE_LINE_LIMIT_BYTES || byte === LF) throw new MalformedResponse();
    if (byte === CR) this.expects = Expects.sizeLf;
    else if (this.expects === Expects.extension || byte === SPACE || byte === TAB) return;
    else if (byte === SEMICOLON) this.expects = Expects.extension;
    else throw new MalformedResponse();
  }

  private expectData(): void {
    this.bytesLeft = this.size;
    this.expects = this.size === 0 ? Expects.trailerLine : Expects.data;
  }

  private readTrailer(byte: number): void {
    this.budget.takeBytes(1);
    if (this.expects === Expects.trailerLine) {
      this.expects = Expects.trailer;
      this.lineBytes = 0;
      if (byte !== CR) this.budget.takeField();
    }
    if (byte !== LF) {
      this.lineBytes++;
      this.last = byte;
      return;
    }
    if (this.lineBytes === 0 || this.last !== CR) throw new MalformedResponse();
    this.expects = this.lineBytes === 1 ? Expects.nothing : Expects.trailerLine;
  }
}
