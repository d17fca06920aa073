import { hash } from 'node:crypto';
import { Encryption } from '../../common/crypto/encryption.js';
import { UnknownDeviceCode } from './device-auth.errors.js';
import { DeviceCodes } from './device-codes.js';

const [OLD, NEW] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const codes = new DeviceCodes(new Encryption([OLD]));

it('issues codes that carry their time, and stores their hash', () => {
  const before = Date.now();
  const code = codes.issue();
  const issuedAt = Buffer.from(code, 'base64url').readUIntBE(32, 6);
  expect(issuedAt).toBeGreaterThanOrEqual(before);
  expect(issuedAt).toBeLessThanOrEqual(Date.now());
  expect(codes.verifyAndHash(code)).toEqual(hash('sha256', code, 'buffer'));
  expect(codes.issue()).not.toBe(code);
});

it('accepts codes of an older key after a rotation, but not of an unknown key', () => {
  const rotated = new DeviceCodes(new Encryption([NEW, OLD]));
  expect(() => rotated.verifyAndHash(codes.issue())).not.toThrow();
  expect(() => codes.verifyAndHash(rotated.issue())).toThrow(UnknownDeviceCode);
});

it('rejects a code with any bit changed', () => {
  const bytes = Buffer.from(codes.issue(), 'base64url');
  for (let i = 0; i < bytes.length * 8; i++) {
    const forged = Buffer.from(bytes);
    forged[i >> 3]! ^= 1 << (i & 7);
    expect(() => codes.verifyAndHash(forged.toString('base64url'))).toThrow(UnknownDeviceCode);
  }
});

it('accepts only the canonical encoding of a code', () => {
  const code = codes.issue();
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const sameBytes = code.slice(0, -1) + alphabet[alphabet.indexOf(code.at(-1)!) + 1]!; // 4 bits are left over
  expect(Buffer.from(sameBytes, 'base64url')).toEqual(Buffer.from(code, 'base64url'));
  for (const other of [sameBytes, `${code}=`, ` ${code}`, `${code}\n`, code.slice(1), `${code}A`, '', 'ü'])
    expect(() => codes.verifyAndHash(other)).toThrow(UnknownDeviceCode);
});
