/** Size up to which bytes cost less to keep and to write as a Latin-1 string, with one character per byte. */
export const STRING_LIMIT_BYTES = 16_384;
