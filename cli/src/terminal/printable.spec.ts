import { errorLine, maskKey } from '../errors.js';
import { printable, printableText } from './printable.js';

it('removes control sequences of a terminal', () => {
  expect(printable('a\u001b[2Jb\r\nc\u202ed')).toBe('a [2Jb c d');
  expect(printableText('a\tb\nc\u001b[31m\u009b1m')).toBe('a\tb\nc[31m1m');
});

const KEY = `mk_${'a1B2'.repeat(10)}c3`;

it('masks keys, and shows nothing of values that are no keys', () => {
  expect(maskKey(KEY)).toBe('mk_a1B2…B2c3');
  expect(maskKey('secret')).toBe('…');
});

it('an error is one line without keys', () => {
  expect(errorLine(`bad\nserver ${KEY}`, 'try again')).toBe('mintkeep: bad server mk_a1B2…B2c3; try again\n');
});
