import { bearerToken } from './bearer-token.js';

it.each([
  ['Bearer mk_1', 'mk_1'],
  ['bearer mk_1', 'mk_1'],
  ['BEARER  mk_1 ', 'mk_1'],
  [undefined, undefined],
  ['', undefined],
  ['Bearer', undefined],
  ['Bearer ', undefined],
  ['Bearer a b', undefined],
  ['Basic mk_1', undefined],
  ['Bearermk_1', undefined],
])('%j has %j', (header, token) => {
  expect(bearerToken(header)).toBe(token);
});
