import { fittingEntries, jsonBytes, PAGE_BYTES } from './paging.js';

const identity = (bytes: number) => bytes;

it.each([
  ['nothing of nothing', [], 0],
  ['all that fits', [1, 2, 3], 3],
  ['one entry that is too large', [2 * PAGE_BYTES, 1], 1],
  ['no second entry that does not fit', [PAGE_BYTES / 2, PAGE_BYTES / 2, 1], 1],
  ['nothing behind an entry that does not fit', [1, PAGE_BYTES, 1], 1],
])('keeps %s', (_what, sizes, kept) => {
  expect(fittingEntries(sizes, identity)).toEqual(sizes.slice(0, kept));
});

it('measures bytes, not characters', () => {
  expect(jsonBytes({ a: '€"' })).toBe(Buffer.byteLength('{"a":"€\\""},'));
});
