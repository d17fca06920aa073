import { isServicePage, safeReturnTo } from './return-to';

const ORIGIN = 'https://keep.example.com';

it.each([
  [undefined, '/'],
  ['/o/1/projects?q=a#b', '/o/1/projects?q=a#b'],
  ['https://keep.example.com/auth/device?user_code=BCDF-GHJK', '/auth/device?user_code=BCDF-GHJK'],
  ['https://evil.example.com/', '/'],
  ['//evil.example.com/', '/'],
  ['/\\evil.example.com/', '/'],
  ['https://keep.example.com//evil.example.com/', '/evil.example.com/'],
  ['/..//evil.example.com/', '/evil.example.com/'],
  ['/.//\\evil.example.com/', '/evil.example.com/'],
  ['https://keep.example.com//sign-in', '/'],
  ['javascript:alert(1)', '/'],
  ['data:text/html,x', '/'],
  ['https://keep.example.com@evil.example.com/', '/'],
  ['/sign-in?return_to=/', '/'],
  ['http://[', '/'],
])('reads %s as %s', (value, expected) => {
  expect(safeReturnTo(value, ORIGIN)).toBe(expected);
});

it('knows the pages of the service', () => {
  expect(isServicePage('/auth/device?user_code=X')).toBe(true);
  expect(isServicePage('/docs')).toBe(true);
  expect(isServicePage('/authors')).toBe(false);
});
