/** Up to here, bytes cost less to keep and to write as one string; in Latin-1, every byte is a character. */
export const STRING_LIMIT_BYTES = 16_384;
