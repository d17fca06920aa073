import { createHmac, randomInt } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Encryption } from '../../common/crypto/encryption.js';

/** RFC 8628, section 6.1: no vowels, so that no words arise, and no characters that look alike. */
const ALPHABET = 'BCDFGHJKLMNPQRSTVWXZ';
const GROUP_LENGTH = 4;
/** The `u` flag is left out: with it, `i` would also match letters outside ASCII. */
const TYPED = new RegExp(`^([${ALPHABET}]{${GROUP_LENGTH}})-?([${ALPHABET}]{${GROUP_LENGTH}})$`, 'i');

/** Codes that people read and type: `XXXX-XXXX`, 34.6 bits. */
@Injectable()
export class UserCodes {
  private readonly keys: readonly Buffer[];

  constructor(encryption: Encryption) {
    this.keys = encryption.derive('user-code');
  }

  generate(): string {
    return `${newGroup()}-${newGroup()}`;
  }

  /**
   * HMACs of a code under all encryption keys. The first one is stored; a plain hash would fall to a search of all 20^8
   * codes. The others find sessions that were stored before a key rotation.
   */
  hmacs(code: string): Buffer[] {
    return this.keys.map((key) => createHmac('sha256', key).update(code).digest());
  }
}

/** Normalizes a typed code to the form in which it is shown; undefined if it is malformed. */
export function parseUserCode(typed: string): string | undefined {
  const [, first, second] = TYPED.exec(typed.replace(/\s/g, '')) ?? [];
  return first && second && `${first}-${second}`.toUpperCase();
}

/** `randomInt` has no modulo bias. */
function newGroup(): string {
  return Array.from({ length: GROUP_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
}
