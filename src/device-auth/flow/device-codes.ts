import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Encryption } from '../../common/crypto/encryption.js';
import { tokenHash } from '../../common/crypto/secret-token.js';
import { UnknownDeviceCode } from './device-auth.errors.js';

const RANDOM_BYTES = 32;
const TIME_BYTES = 6;
const PAYLOAD_BYTES = RANDOM_BYTES + TIME_BYTES;
const HMAC_BYTES = 32;

/**
 * The secrets that devices poll with: base64url of 32 random bytes, the time of issue (Unix, milliseconds) and
 * an HMAC of both. The HMAC rejects a forged code without a database query. A genuine code that is not in the
 * database must therefore have expired.
 */
@Injectable()
export class DeviceCodes {
  private readonly keys: readonly Buffer[];

  constructor(encryption: Encryption) {
    this.keys = encryption.derive('device-code');
  }

  issue(): string {
    const payload = Buffer.alloc(PAYLOAD_BYTES);
    randomBytes(RANDOM_BYTES).copy(payload);
    payload.writeUIntBE(Date.now(), RANDOM_BYTES, TIME_BYTES);
    return Buffer.concat([payload, sign(payload, this.keys[0]!)]).toString('base64url');
  }

  /** Hash under which a genuine code is stored. @throws UnknownDeviceCode */
  verifyAndHash(code: string): Buffer {
    if (!this.isGenuine(code)) throw new UnknownDeviceCode();
    return tokenHash(code);
  }

  private isGenuine(code: string): boolean {
    const bytes = Buffer.from(code, 'base64url');
    if (bytes.length !== PAYLOAD_BYTES + HMAC_BYTES || bytes.toString('base64url') !== code) return false;
    const payload = bytes.subarray(0, PAYLOAD_BYTES);
    const hmac = bytes.subarray(PAYLOAD_BYTES);
    return this.keys.some((key) => timingSafeEqual(sign(payload, key), hmac));
  }
}

function sign(payload: Buffer, key: Buffer): Buffer {
  return createHmac('sha256', key).update(payload).digest();
}
