import { createHmac } from 'node:crypto';
import { Encryption } from '../../common/crypto/encryption.js';
import { parseUserCode, UserCodes } from './user-codes.js';

const [OLD, NEW] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const ALPHABET = 'BCDFGHJKLMNPQRSTVWXZ';
/** Exceeded by 1 in 10^6 fair draws (19 degrees of freedom). */
const CHI_SQUARE_LIMIT = 63;

describe('generated codes', () => {
  const codes = Array.from({ length: 5_000 }, () => new UserCodes(new Encryption([OLD])).generate());

  it('are eight characters in two groups', () => {
    for (const code of codes) expect(code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    expect(new Set(codes).size).toBe(codes.length);
  });

  it.each([0, 1, 2, 3, 5, 6, 7, 8])(
    'have every character with equal probability at position %d',
    (position) => {
      const expected = codes.length / ALPHABET.length;
      const chiSquare = [...ALPHABET]
        .map((letter) => codes.filter((code) => code[position] === letter).length)
        .reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
      expect(chiSquare).toBeLessThan(CHI_SQUARE_LIMIT);
    },
  );
});

describe('the stored HMAC', () => {
  const stored = (codes: UserCodes, code: string) => codes.hmacs(code)[0];

  it('depends on the code and on the key', () => {
    const [before, after] = [new UserCodes(new Encryption([OLD])), new UserCodes(new Encryption([NEW]))];
    expect(stored(before, 'BCDF-GHJK')).not.toEqual(stored(before, 'BCDF-GHJL'));
    expect(stored(before, 'BCDF-GHJK')).not.toEqual(stored(after, 'BCDF-GHJK'));
    expect(stored(before, 'BCDF-GHJK')).not.toEqual(createHmac('sha256', OLD).update('BCDF-GHJK').digest());
  });

  it('is found under all keys, and written under the first one', () => {
    const before = stored(new UserCodes(new Encryption([OLD])), 'BCDF-GHJK');
    const after = new UserCodes(new Encryption([NEW, OLD]));
    expect(after.hmacs('BCDF-GHJK')).toContainEqual(before);
    expect(stored(after, 'BCDF-GHJK')).not.toEqual(before);
  });
});

describe('typed codes', () => {
  it.each([
    'BCDF-GHJK',
    'bcdf-ghjk',
    'BCDFGHJK',
    'BCDF GHJK',
    ' b c d f - g h j k ',
    'BCDF\u00a0GHJK\n',
    'bCdF\t-GhJk',
  ])('are accepted: %j', (typed) => {
    expect(parseUserCode(typed)).toBe('BCDF-GHJK');
  });

  it.each([
    '',
    ' ',
    '-',
    'BCDF-GHJ',
    'BCDF-GHJKL',
    'BCDFG-HJK',
    'B-CDF-GHJK',
    'BCDF--GHJK',
    '-BCDFGHJK',
    'BCDFGHJK-',
    'BCDF_GHJK',
    'BCDF–GHJK',
    'BCDF-GHJ0',
    'ACDF-GHJK',
    'BCDF-GHJY',
    'ſCDF-GHJK', // upper case is an S
    'ＢＣＤＦ-ＧＨＪＫ',
    'BCDF-GHJ\u212a', // lower case is a k
    'BCDF-GHJK\0',
  ])('are rejected if malformed: %j', (typed) => {
    expect(parseUserCode(typed)).toBeUndefined();
  });
});
