/** No bytes. */
export const EMPTY: Buffer = Buffer.alloc(0);
