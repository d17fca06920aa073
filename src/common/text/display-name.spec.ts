import { cpuTimeMs } from '../../../test/support/cpu-time.js';
import { toDisplayName } from './display-name.js';

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
  expect(toDisplayName(text, 64)).toBe(shown);
});

it.each([
  ...['', '  ', '\u0000', '\u202e \u2066', '\u200d', '\u0301'],
  ...['\u3164', '\u2800', '\u115f', '\u1160', '\uffa0', '\u3164 \u2800'],
])('nothing is left of %j', (text) => {
  expect(toDisplayName(text, 64)).toBeUndefined();
});

it('cuts by code points, after it has cleaned', () => {
  expect(toDisplayName('\u0000'.repeat(100) + '💻'.repeat(100), 64)).toBe('💻'.repeat(64));
  expect(toDisplayName(`${'a'.repeat(63)} b`, 64)).toBe('a'.repeat(63));
});

it('takes no time for a megabyte', () => {
  const tookMs = cpuTimeMs(() => {
    toDisplayName(`x${' '.repeat(1_000_000)}x`, 64);
    toDisplayName('\u202e'.repeat(1_000_000), 64);
  });
  expect(tookMs).toBeLessThan(2_000); // a pattern that is tried at every character takes minutes
});
