import { createHmac, randomInt } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Encryption } from '../common/encryption.js';

/** RFC 8628, 6.1: no vowels, so no words; nothing that is taken for something else. */
const ALPHABET = 'BCDFGHJKLMNPQRSTVWXZ';
const GROUP_LENGTH = 4;
/** Without the `u` flag, ignoring case stays within ASCII. */
const TYPED = new RegExp(`^([${ALPHABET}]{${GROUP_LENGTH}})-?([${ALPHABET}]{${GROUP_LENGTH}})$`, 'i');

/** The codes that people read and type: `XXXX-XXXX`, 34.6 bits. */
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
   * What is stored is the first: without the key, 20^8 codes would soon be tried. The others are under older keys, so
   * that what was stored before a new one came is found still.
   */
  hmacs(code: string): Buffer[] {
    return this.keys.map((key) => createHmac('sha256', key).update(code).digest());
  }
}

/** The code as it is shown, from the way it was typed; undefined when it cannot be one. */
export function parseUserCode(typed: string): string | undefined {
  const [, first, second] = TYPED.exec(typed.replace(/\s/g, '')) ?? [];
  return first && second && `${first}-${second}`.toUpperCase();
}

/** `randomInt` has no modulo bias. */
function newGroup(): string {
  return Array.from({ length: GROUP_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
}
