import { hash, randomBytes } from 'node:crypto';

const TOKEN_BYTES = 32;

/** 256 random bits for a link or a header. Only {@link tokenHash} of it is stored. */
export function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** SHA-256; enough for secrets of full entropy, which cannot be guessed from their hash. */
export function tokenHash(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}
