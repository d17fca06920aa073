import { SLUG_PATTERN, slugify, uniqueSlug } from './slug';

it.each([
  ['Getting started', 'getting-started'],
  ['  Über die Straße — 2. Teil!  ', 'uber-die-strasse-2-teil'],
  ["Ada's notes", 'adas-notes'],
  ['Łódź', 'lodz'],
  ['日本', ''],
  ['a'.repeat(100), 'a'.repeat(80)],
  [`${'a'.repeat(79)} b`, 'a'.repeat(79)],
])('turns %j into %j', (text, expected) => {
  expect(slugify(text)).toBe(expected);
  if (expected !== '') expect(expected).toMatch(SLUG_PATTERN);
});

it('makes slugs unique within 80 characters', () => {
  const taken = new Set(['notes', 'notes-2', 'a'.repeat(80)]);
  expect(uniqueSlug('other', (slug) => taken.has(slug))).toBe('other');
  expect(uniqueSlug('notes', (slug) => taken.has(slug))).toBe('notes-3');
  expect(uniqueSlug('a'.repeat(80), (slug) => taken.has(slug))).toBe(`${'a'.repeat(78)}-2`);
});
