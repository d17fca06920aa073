import { findQueryModel, replaceQueryModel } from './requested-model.js';

it.each([
  ['/v1/realtime?model=a', '/v1/realtime?model=b%2Fc'],
  ['/v1/realtime?x=%20+&model=a&y=~(,)', '/v1/realtime?x=%20+&model=b%2Fc&y=~(,)'],
  ['/v1/realtime?m%6fdel=a&&z', '/v1/realtime?m%6fdel=b%2Fc&&z'],
  ['/v1/realtime?x=1&model', '/v1/realtime?x=1&model=b%2Fc'],
  ['/v1/realtime?x=1&?model=a&model=a', '/v1/realtime?x=1&?model=a&model=b%2Fc'],
])('replaces the model in the query of %s, and no other byte', (target, expected) => {
  const replaced = replaceQueryModel(target, 'b/c');
  expect(replaced).toBe(expected);
  expect(findQueryModel(replaced)).toEqual({ name: 'b/c', isUnclear: false });
});
