const BLOCK_BYTES = 65_536;
/** Below, Node's own allocator is as good. */
const SMALLEST_BYTES = 8_192;
/** Of one answer. */
const ANSWER_LIMIT = 16;
/** That are kept for other answers: 16 MiB. */
const FREE_LIMIT = 256;

const free: Buffer[] = [];

/**
 * Where the chunks of an answer are kept that is needed as a whole until it was sent, in blocks that are used again
 * for other answers: new memory for each has to be asked of the system, and makes V8 collect its old generation
 * every few hundred answers.
 */
export class AnswerBlocks {
  private readonly blocks: Buffer[] = [];
  /** Of the last block. */
  private usedBytes = BLOCK_BYTES;

  /** A copy that stays as it is until {@link whenSent}. */
  copy(chunk: Buffer): Buffer {
    if (chunk.length < SMALLEST_BYTES || chunk.length > BLOCK_BYTES) return Buffer.from(chunk);
    if (this.usedBytes + chunk.length > BLOCK_BYTES && !this.addBlock()) return Buffer.from(chunk);
    const start = this.usedBytes;
    this.usedBytes += chunk.length;
    const copy = this.blocks.at(-1)!.subarray(start, this.usedBytes);
    chunk.copy(copy);
    return copy;
  }

  /** What gives the memory back, for when all was handed to the operating system; undefined when there is none. */
  get whenSent(): (() => void) | undefined {
    return this.blocks.length === 0 ? undefined : () => this.release();
  }

  private addBlock(): boolean {
    if (this.blocks.length === ANSWER_LIMIT) return false;
    this.blocks.push(free.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES));
    this.usedBytes = 0;
    return true;
  }

  private release(): void {
    for (const block of this.blocks) if (free.length < FREE_LIMIT) free.push(block);
    this.blocks.length = 0;
    this.usedBytes = BLOCK_BYTES;
  }
}
