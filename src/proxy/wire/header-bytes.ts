import { EMPTY_LINE } from '../../http/header-lines.js';
import { EMPTY_BUFFER } from './empty-buffer.js';
import type { HeaderBudget } from './header-budget.js';
import { MalformedResponse } from './malformed-response.js';

const START = Buffer.from('HTTP/1.');
const SMALLEST_BYTES = 1_024;
const LF = 10;
const CR = 13;

/** Collects the headers of a response until the empty line. Searches every byte once, however small the packets are. */
export class HeaderBytes {
  /** Index after the empty line, in the packet for which {@link read} returned a text. */
  end = 0;
  /** Bytes of earlier packets, at the start of a buffer that grows by doubling. */
  private partial = EMPTY_BUFFER;
  private partialBytes = 0;

  constructor(private readonly budget: HeaderBudget) {}

  get isEmpty(): boolean {
    return this.partialBytes === 0;
  }

  clear(): void {
    this.partial = EMPTY_BUFFER;
    this.partialBytes = 0;
  }

  /**
   * @returns status line and headers without the empty line; undefined while that line is missing
   * @throws MalformedResponse for bytes that no response starts with
   */
  read(bytes: Buffer, from: number): string | undefined {
    if (this.partialBytes > 0) return this.continueRead(bytes, from);
    const end = bytes.indexOf(EMPTY_LINE, from);
    if (end >= 0) return this.textOf(bytes, from, end);
    this.append(bytes, from, bytes.length);
    this.checkPartial(0);
    return undefined;
  }

  private continueRead(bytes: Buffer, from: number): string | undefined {
    const before = this.partialBytes;
    this.append(bytes, from, bytes.length);
    const searched = Math.max(0, before - EMPTY_LINE.length + 1);
    const end = this.partial.subarray(0, this.partialBytes).indexOf(EMPTY_LINE, searched);
    if (end < 0) {
      this.checkPartial(before);
      return undefined;
    }
    const text = this.textOf(this.partial, 0, end);
    this.end += from - before;
    this.clear();
    return text;
  }

  private textOf(bytes: Buffer, from: number, end: number): string {
    this.budget.takeBytes(end - from);
    this.end = end + EMPTY_LINE.length;
    return bytes.toString('latin1', from, end);
  }

  private append(bytes: Buffer, from: number, to: number): void {
    const length = this.partialBytes + to - from;
    if (length > this.partial.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(SMALLEST_BYTES, 2 * length));
      this.partial.copy(grown, 0, 0, this.partialBytes);
      this.partial = grown;
    }
    bytes.copy(this.partial, this.partialBytes, from, to);
    this.partialBytes = length;
  }

  /** Rejects other protocols early: such an upstream may wait forever and never send an empty line. */
  private checkPartial(from: number): void {
    const { partial, partialBytes } = this;
    this.budget.checkBytes(partialBytes - EMPTY_LINE.length + 1);
    if (from < START.length) {
      const length = Math.min(partialBytes, START.length);
      if (partial.compare(START, 0, length, 0, length) !== 0) throw new MalformedResponse();
    }
    for (let at = from; at < partialBytes; at++) {
      if (partial[at] === LF && partial[at - 1] !== CR) throw new MalformedResponse();
    }
  }
}
