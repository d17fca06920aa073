const BLOCK_BYTES = 65_536;
/** Below, Node's own allocator is as good. */
const SMALLEST_BYTES = 8_192;
/** Of one answer, which is kept until all of it was sent. */
const ANSWER_LIMIT = 64;
/** That are kept for other answers: 16 MiB. */
const FREE_LIMIT = 256;

const free: Buffer[] = [];

/**
 * Where the chunks of one answer are kept until they were sent. What is large is kept in blocks that are used
 * again for other answers: new memory for each has to be asked of the system, and makes V8 collect its old
 * generation every few hundred answers.
 */
export class AnswerBlocks {
  private readonly blocks: Buffer[] = [];

  /** A copy that stays as it is until {@link whenSent}. */
  copy(chunk: Buffer): Buffer {
    const isLarge = chunk.length >= SMALLEST_BYTES && chunk.length <= BLOCK_BYTES;
    if (!isLarge || this.blocks.length === ANSWER_LIMIT) return Buffer.from(chunk);
    const block = free.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
    this.blocks.push(block);
    chunk.copy(block);
    return block.subarray(0, chunk.length);
  }

  /** What gives the memory back, for when all was handed to the operating system; undefined when there is none. */
  get whenSent(): (() => void) | undefined {
    return this.blocks.length === 0 ? undefined : () => this.release();
  }

  private release(): void {
    for (const block of this.blocks) if (free.length < FREE_LIMIT) free.push(block);
    this.blocks.length = 0;
  }
}
