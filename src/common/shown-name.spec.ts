import { toShownName } from './shown-name.js';

it.each([
  ['mint CLI', 'mint CLI'],
  ['  mint\tCLI ', 'mintCLI'],
  ['a\u0000b\u0007c\u009fd\u001b[31m', 'abcd[31m'],
  ['exe.\u202egnp', 'exe.gnp'],
  ['\u2066a\u2069\u200e\u200f\u061cb', 'ab'],
  ['a\r\nb\u2028c\u2029', 'abc'],
  ['\ud83d half', 'half'],
  ['a\u200bb\u2060c\ufeffd', 'abcd'],
  ['👩‍💻 laptop', '👩‍💻 laptop'],
  ['日本語', '日本語'],
  ['\u2800a\u3164b', '\u2800a\u3164b'],
])('%j is shown as %j', (text, shown) => {
  expect(toShownName(text, 64)).toBe(shown);
});

it.each([
  ...['', '  ', '\u0000', '\u202e \u2066', '\u200d', '\u0301'],
  ...['\u3164', '\u2800', '\u115f', '\u1160', '\uffa0', '\u3164 \u2800'],
])('nothing is left of %j', (text) => {
  expect(toShownName(text, 64)).toBeUndefined();
});

it('cuts by code points, after it has cleaned', () => {
  expect(toShownName('\u0000'.repeat(100) + '💻'.repeat(100), 64)).toBe('💻'.repeat(64));
  expect(toShownName(`${'a'.repeat(63)} b`, 64)).toBe('a'.repeat(63));
});

it('takes no time for a megabyte', () => {
  const begin = performance.now();
  toShownName(`x${' '.repeat(1_000_000)}x`, 64);
  toShownName('\u202e'.repeat(1_000_000), 64);
  expect(performance.now() - begin).toBeLessThan(500);
});
