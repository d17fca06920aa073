const FIRST_BYTES = 131_072;
const MAX_FIRST_BYTES = 1_048_576;

/**
 * Collects bytes in one block of memory. A list of chunks would take twice the memory when it is joined, and several
 * hundred bytes for each tiny chunk.
 */
export class GrowingBuffer {
  length = 0;
  private block: Buffer;

  /** @param expectedBytes final length; NaN if it is unknown */
  constructor(
    private readonly expectedBytes: number,
    firstBytes = Math.min(expectedBytes || FIRST_BYTES, MAX_FIRST_BYTES),
  ) {
    this.block = Buffer.allocUnsafeSlow(firstBytes);
  }

  get bytes(): Buffer {
    return this.block.subarray(0, this.length);
  }

  append(chunk: Buffer): void {
    const needed = this.length + chunk.length;
    // Doubling copies each byte a constant number of times on average.
    if (needed > this.block.length) this.grow(this.expectedBytes || Math.max(needed, 2 * this.block.length));
    chunk.copy(this.block, this.length);
    this.length = needed;
  }

  private grow(size: number): void {
    const { bytes } = this;
    this.block = Buffer.allocUnsafeSlow(size);
    bytes.copy(this.block);
  }
}
