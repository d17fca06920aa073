/** Shared buffer without bytes. */
export const EMPTY_BUFFER: Buffer = Buffer.alloc(0);
