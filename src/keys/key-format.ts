import { randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const PREFIX = 'mk_';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_CHARACTERS = 36;
const CHECKSUM_CHARACTERS = 6;
const LENGTH = PREFIX.length + RANDOM_CHARACTERS + CHECKSUM_CHARACTERS;
const SHAPE = new RegExp(`^${PREFIX}[${ALPHABET}]{${RANDOM_CHARACTERS + CHECKSUM_CHARACTERS}}$`);

/** Lengths of the visible beginning and end, by which people recognize a key. */
const SHOWN_PREFIX = PREFIX.length + 4;
const SHOWN_END = 4;

/** Creates a secret: `mk_`, 36 random base62 characters and a checksum. */
export function newKeySecret(): string {
  let body = PREFIX;
  for (let i = 0; i < RANDOM_CHARACTERS; i++) body += ALPHABET[randomInt(ALPHABET.length)];
  return body + checksum(body);
}

/** Whether prefix, length and checksum are right. Rejects mistyped and invented keys without a query. */
export function isKeySecret(text: string): boolean {
  if (text.length !== LENGTH || !SHAPE.test(text)) return false;
  return text.slice(-CHECKSUM_CHARACTERS) === checksum(text.slice(0, -CHECKSUM_CHARACTERS));
}

/** Returns the parts of a key that may be shown. */
export function visibleParts(secret: string): { prefix: string; last4: string } {
  return { prefix: secret.slice(0, SHOWN_PREFIX), last4: secret.slice(-SHOWN_END) };
}

/** Returns the CRC-32 in base62, most significant digit first, padded with zeros. */
function checksum(body: string): string {
  let value = crc32(body);
  let digits = '';
  for (let i = 0; i < CHECKSUM_CHARACTERS; i++) {
    digits = ALPHABET[value % ALPHABET.length]! + digits;
    value = Math.floor(value / ALPHABET.length);
  }
  return digits;
}
