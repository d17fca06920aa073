/** Chunks of at least this size are delivered without a copy. */
const LARGE_BYTES = 4_096;
/** Smaller chunks are copied byte by byte, which costs less than a call of `copy`. */
const TINY_BYTES = 32;
const BATCH_BYTES = 65_536;
/** Shared by all responses, because {@link ChunkCoalescer.flush} empties it before the next response is read. */
const batch = Buffer.allocUnsafeSlow(BATCH_BYTES);

/**
 * Joins the body chunks of one socket read. An upstream that sends one-byte chunks must not cause a call, a buffer and
 * a write for each of them. A single chunk is delivered without a copy.
 */
export class ChunkCoalescer {
  private batchBytes = 0;
  /** Socket read with the only chunk so far, which lies between {@link start} and {@link end}. */
  private read?: Buffer = undefined;
  private start = 0;
  private end = 0;

  /** @param onData receives bytes that are valid until it returns */
  constructor(private readonly onData: (bytes: Buffer) => void) {}

  /** Adds a part of the current socket read. The read must stay valid until {@link flush}. */
  add(read: Buffer, start: number, end: number): void {
    if (end - start >= LARGE_BYTES) {
      this.flush();
      this.onData(start === 0 && end === read.length ? read : read.subarray(start, end));
    } else if (this.batchBytes === 0 && !this.read) {
      this.read = read;
      this.start = start;
      this.end = end;
    } else {
      if (this.read) this.copy(this.read, this.start, this.end);
      this.read = undefined;
      this.copy(read, start, end);
    }
  }

  /** Delivers everything that was added. */
  flush(): void {
    const { read, batchBytes } = this;
    this.read = undefined;
    this.batchBytes = 0;
    if (read) this.onData(read.subarray(this.start, this.end));
    else if (batchBytes > 0) this.onData(batch.subarray(0, batchBytes));
  }

  private copy(read: Buffer, start: number, end: number): void {
    if (this.batchBytes + end - start > BATCH_BYTES) this.flush();
    const at = this.batchBytes;
    if (end - start >= TINY_BYTES) read.copy(batch, at, start, end);
    else for (let i = start; i < end; i++) batch[at + i - start] = read[i]!;
    this.batchBytes = at + end - start;
  }
}
