import { createCipheriv, createDecipheriv, createHmac, hash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';

const ALGORITHM = 'aes-256-gcm';
/** NIST SP 800-38D, 8.2.2: 96 random bits, good for 2^32 encryptions under one key. */
const IV_BYTES = 12;
const TAG_BYTES = 16;
const KEY_ID_BYTES = 4;

/**
 * Encryption at rest with AES-256-GCM. The first of `ENCRYPTION_KEYS` encrypts, and each of them decrypts. A value
 * consists of key id, IV, tag and ciphertext. Its context binds it to a row: a copy in another row does not decrypt.
 */
@Injectable()
export class Encryption {
  private readonly keys: ReadonlyMap<string, Buffer>;
  private readonly current: { id: Buffer; key: Buffer };

  /** @param keys 32 bytes each; the first one encrypts */
  constructor(keys: readonly Buffer[]) {
    const [first] = keys;
    if (!first) throw new RangeError('at least one encryption key is needed');
    this.keys = new Map(keys.map((key) => [keyId(key).toString('hex'), key]));
    this.current = { id: keyId(first), key: first };
  }

  /** @param context place of the value, such as `upstream:7:42` */
  encrypt(plaintext: string, context: string): Buffer {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.current.key, iv).setAAD(Buffer.from(context));
    const ciphertext = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
    return Buffer.concat([this.current.id, iv, cipher.getAuthTag(), ciphertext]);
  }

  /** @throws Error if the key is missing, the value was altered, or the context differs */
  decrypt(value: Buffer, context: string): string {
    const key = this.keys.get(value.subarray(0, KEY_ID_BYTES).toString('hex'));
    if (!key) throw new Error('the value was encrypted with a key that is missing from ENCRYPTION_KEYS');
    const ivEnd = KEY_ID_BYTES + IV_BYTES;
    const tagEnd = ivEnd + TAG_BYTES;
    const decipher = createDecipheriv(ALGORITHM, key, value.subarray(KEY_ID_BYTES, ivEnd));
    decipher.setAAD(Buffer.from(context)).setAuthTag(value.subarray(ivEnd, tagEnd));
    return Buffer.concat([decipher.update(value.subarray(tagEnd)), decipher.final()]).toString('utf8');
  }

  /** Whether the value was encrypted with the first key. */
  isCurrent(value: Buffer): boolean {
    return value.subarray(0, KEY_ID_BYTES).equals(this.current.id);
  }

  /** Derives HMAC keys for one purpose, one from each encryption key: the first one signs, all verify. */
  derive(purpose: string): Buffer[] {
    return [...this.keys.values()].map((key) =>
      createHmac('sha256', key).update(`mintkeep:${purpose}`).digest(),
    );
  }
}

/** Identifies a key without revealing it. */
function keyId(key: Buffer): Buffer {
  return hash('sha256', Buffer.concat([Buffer.from('mintkeep:key-id'), key]), 'buffer').subarray(
    0,
    KEY_ID_BYTES,
  );
}
