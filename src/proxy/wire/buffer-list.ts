import { EMPTY_BUFFER } from './empty-buffer.js';

/** Larger buffers are kept by reference. A smaller buffer may be a slice of Node's pool and would keep it in memory. */
const LARGE_BYTES = 4_096;
const SMALLEST_BLOCK_BYTES = 512;
const LARGEST_BLOCK_BYTES = 16_384;

/**
 * Growing list of bytes. Packs small chunks into blocks, so that the memory depends on the number of bytes only.
 * A million one-byte chunks in separate buffers would take 100 MB.
 */
export class BufferList {
  length = 0;
  private full: Buffer[] = [];
  /** Last block, while it has room. */
  private block?: Buffer = undefined;
  private blockBytes = 0;

  /** @returns the bytes in order, in few buffers */
  toBuffers(): readonly Buffer[] {
    const { block } = this;
    return block ? [...this.full, block.subarray(0, this.blockBytes)] : this.full;
  }

  /** @returns all bytes in one buffer */
  toBuffer(): Buffer {
    return join(this.toBuffers());
  }

  /** @param chunk must not change while the list contains it */
  append(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.length += chunk.length;
    const rest = this.block ? this.fill(this.block, chunk) : chunk;
    if (rest.length === 0) return;
    if (rest.length >= LARGE_BYTES || this.length === rest.length) this.full.push(rest);
    else {
      const size = Math.max(SMALLEST_BLOCK_BYTES, Math.min(LARGEST_BLOCK_BYTES, this.length), rest.length);
      this.block = Buffer.allocUnsafeSlow(size);
      this.blockBytes = 0;
      this.fill(this.block, rest);
    }
  }

  /** @returns at least the last `count` bytes, or all bytes if there are fewer, in one buffer */
  tail(count: number): Buffer {
    const buffers = this.toBuffers();
    let from = buffers.length;
    for (let sum = 0; from > 0 && sum < count;) sum += buffers[--from]!.length;
    return join(buffers.slice(from));
  }

  /** Drops buffers at the start while at least `count` bytes remain. */
  keepLast(count: number): void {
    let dropped = 0;
    while (dropped < this.full.length && this.length - this.full[dropped]!.length >= count) {
      this.length -= this.full[dropped++]!.length;
    }
    if (dropped > 0) this.full.splice(0, dropped);
  }

  clear(): void {
    this.length = 0;
    this.full = [];
    this.block = undefined;
  }

  /** @returns the part of the chunk that the block has no room for */
  private fill(block: Buffer, chunk: Buffer): Buffer {
    const copied = chunk.copy(block, this.blockBytes);
    this.blockBytes += copied;
    if (this.blockBytes === block.length) {
      this.full.push(block);
      this.block = undefined;
    }
    return copied === chunk.length ? EMPTY_BUFFER : chunk.subarray(copied);
  }
}

function join(buffers: readonly Buffer[]): Buffer {
  return buffers.length === 1 ? buffers[0]! : Buffer.concat(buffers);
}
