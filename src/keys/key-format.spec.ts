import { crc32 } from 'node:zlib';
import { isKeySecret, newKeySecret, visibleParts } from './key-format.js';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

it('creates keys of prefix, 36 random characters and a checksum', () => {
  const secret = newKeySecret();
  expect(secret).toMatch(/^mk_[0-9A-Za-z]{42}$/);
  const value = [...secret.slice(-6)].reduce((sum, digit) => sum * 62 + ALPHABET.indexOf(digit), 0);
  expect(value).toBe(crc32(secret.slice(0, -6)));
});

it('creates different keys from the whole alphabet', () => {
  const secrets = Array.from({ length: 500 }, newKeySecret);
  expect(new Set(secrets).size).toBe(500);
  expect(new Set(secrets.flatMap((secret) => [...secret.slice(3, 39)])).size).toBe(62);
  expect(secrets.every(isKeySecret)).toBe(true);
});

it('rejects a key with any changed character', () => {
  const secret = newKeySecret();
  for (let i = 0; i < secret.length; i++) {
    const other = secret[i] === 'x' ? 'y' : 'x';
    expect(isKeySecret(secret.slice(0, i) + other + secret.slice(i + 1))).toBe(false);
  }
});

it.each([
  '',
  'mk_',
  `${newKeySecret()}0`,
  newKeySecret().slice(1),
  newKeySecret().replace('mk_', 'sk_'),
  `${newKeySecret()}\n`,
  `mk_${'é'.repeat(42)}`,
])('%j is not a key', (text) => expect(isKeySecret(text)).toBe(false));

it('shows only the prefix and the last 4 characters', () => {
  const secret = newKeySecret();
  const { prefix, last4 } = visibleParts(secret);
  expect(secret.startsWith(prefix) && secret.endsWith(last4)).toBe(true);
  expect(prefix.length + last4.length).toBeLessThan(12);
});
