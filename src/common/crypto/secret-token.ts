import { hash, randomBytes } from 'node:crypto';

const TOKEN_BYTES = 32;

/** Creates a token of 256 random bits for a link or a header. Only its {@link tokenHash} is stored. */
export function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** SHA-256 of a token. A slow hash is unnecessary, because 256 random bits cannot be guessed. */
export function tokenHash(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}
