import fc from 'fast-check';
import { isPatternText, MATCHED_NAME_MAX, ModelPattern, PatternList } from './model-pattern.js';

const letters = fc.string({ unit: fc.constantFrom('a', 'b', '/', '.'), maxLength: 8 });
const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '/', '.', '*'), minLength: 1, maxLength: 8 });
const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const regexOf = (text: string) => new RegExp(`^${text.split('*').map(escaped).join('.*')}$`, 's');

it('matches the same names as a regular expression', () => {
  fc.assert(
    fc.property(pattern, letters, (text, name) => {
      expect(new ModelPattern(text).matches(name)).toBe(regexOf(text).test(name));
    }),
    { numRuns: 5_000 },
  );
});

it('captures what the only star stands for', () => {
  fc.assert(
    fc.property(letters, letters, letters, (before, between, after) => {
      const compiled = new ModelPattern(`${before}*${after}`);
      expect(compiled.capture(before + between + after)).toBe(between);
      expect(compiled.fill(between)).toBe(before + between + after);
    }),
  );
});

it('finds the first pattern of a list', () => {
  fc.assert(
    fc.property(fc.array(pattern, { maxLength: 6 }), letters, (texts, name) => {
      const compiled = texts.map((text) => new ModelPattern(text));
      expect(new PatternList(compiled).find(name)).toBe(compiled.findIndex((each) => each.matches(name)));
    }),
    { numRuns: 2_000 },
  );
});

it('is case-sensitive, and takes other signs literally', () => {
  expect(new ModelPattern('GPT-*').matches('gpt-5')).toBe(false);
  expect(new ModelPattern('gpt.5').matches('gpt-5')).toBe(false);
  expect(new ModelPattern('gpt-?').matches('gpt-?')).toBe(true);
});

it.each([
  ['*', true],
  ['**', true],
  ['a*', true],
  ['*a', true],
  ['*b', false],
  ['*a*', false],
])('matches a name above the searched length with %s: %s', (text, isMatch) => {
  const compiled = new ModelPattern(text);
  expect(compiled.matches('a'.repeat(MATCHED_NAME_MAX + 1))).toBe(isMatch);
  expect(compiled.matches('a'.repeat(MATCHED_NAME_MAX))).toBe(text !== '*b');
});

it.each([
  ['a', true],
  ['😀'.repeat(256), true],
  ['', false],
  ['a'.repeat(257), false],
  ['a\n', false],
  ['\x7f', false],
  ['\u0085', false],
  ['\ud800', false],
  [1, false],
  [null, false],
])('a text %j is a pattern: %s', (value, isPattern) => {
  expect(isPatternText(value)).toBe(isPattern);
});
