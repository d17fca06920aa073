import fc from 'fast-check';
import {
  codePoints,
  emailKey,
  firstCodePoints,
  isAddress,
  isDecodable,
  isStorableText,
  storableText,
  trimUnicode,
} from './text.js';

it.each([
  ['', ''],
  [' a b ', 'a b'],
  ['\u00a0\u2003\u3000\u0085\ufeff\n\ta\r\n', 'a'],
  [' \n ', ''],
  ['a\u200b', 'a\u200b'], // a zero width space is no white space
  ['\ud800 x \udc00', '\ud800 x \udc00'],
])('trims %j to %j', (text, trimmed) => expect(trimUnicode(text)).toBe(trimmed));

it('trims a megabyte of white space within a text as fast as it is read', () => {
  const text = `a${' '.repeat(1_000_000)}b`;
  expect(trimUnicode(text)).toBe(text); // a pattern with `+$` would take minutes, and the test would time out
});

it.each([
  ['é😀', true],
  ['', true],
  ['a\0b', false],
  ['\ud800', false],
  ['a\udc00b', false],
])('%j can be stored: %j', (text, storable) => expect(isStorableText(text)).toBe(storable));

it('makes storable what is not, and no longer than it may be', () => {
  expect(storableText('a\0b\ud800c', 4)).toBe('a\ufffdb\ufffd');
  expect(isStorableText(storableText('😀', 1))).toBe(true);
});

it('counts what people count', () => {
  expect(codePoints('é😀x')).toBe(3);
});

it('compares addresses trimmed and whatever their case', () => {
  expect(emailKey(' Ada@EXAMPLE.com\n')).toBe('ada@example.com');
  expect(emailKey('ÉMILE@example.com')).toBe('émile@example.com');
});

it('takes no address for one in ASCII that is not', () => {
  const beyond = Array.from({ length: 0x10ffff - 0x7f }, (_, i) => i + 0x80).filter(
    (code) => code >> 11 !== 27,
  );
  const alike = beyond.filter((code) => /^[\0-\x7f]+$/.test(emailKey(`a${String.fromCodePoint(code)}b`)));
  expect(alike).toEqual([]);
});

it.each([
  ['ada@example.com', true],
  ['ada@example', false],
  ['\ud800@example.com', false],
  ['a\0@example.com', false],
])('%j is an address: %j', (text, expected) => expect(isAddress(text)).toBe(expected));

it.each([
  ['abc', 2, 'ab'],
  ['abc', 3, 'abc'],
  ['', 3, ''],
  ['😀😀😀', 2, '😀😀'],
  ['a😀b', 2, 'a😀'],
  ['😀', 64, '😀'],
  ['\ud83d', 1, '\ud83d'],
])('the first code points of %j: %i are %j', (text, count, expected) => {
  expect(firstCodePoints(text, count)).toBe(expected);
});

it('tells what can be decoded as decodeURIComponent does', () => {
  const decodes = (text: string) => {
    try {
      return decodeURIComponent(text) !== undefined;
    } catch {
      return false;
    }
  };
  const byte = fc.nat(255).map((value) => `%${value.toString(16).padStart(2, '0')}`);
  const borders = fc.constantFrom(
    ...'7f 80 8f 90 9f a0 bf c0 c1 c2 df e0 ed ee ef f0 f3 f4 f5 ff'.split(' ').map((hex) => `%${hex}`),
  );
  const encoded = fc
    .string({ unit: 'binary' })
    .filter((text) => text.isWellFormed())
    .map(encodeURIComponent);
  const pieces = fc.array(fc.oneof(byte, borders, encoded, fc.constantFrom('%', 'a', '%C3%A4', '%4')));
  fc.assert(
    fc.property(pieces, (all) => {
      const text = all.join('');
      expect(isDecodable(text)).toBe(decodes(text));
    }),
    { numRuns: 5_000 },
  );
});
