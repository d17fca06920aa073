import { isProtected, parseServer, serverText } from './server-url.js';

it.each([
  ['https://mint.example.com', 'https://mint.example.com'],
  ['https://mint.example.com/', 'https://mint.example.com'],
  ['https://example.com/apps/mint//', 'https://example.com/apps/mint'],
  ['HTTPS://Mint.Example.com:8443/a', 'https://mint.example.com:8443/a'],
  ['mint.example.com/apps', 'https://mint.example.com/apps'],
  ['localhost:3000', 'http://localhost:3000'],
  ['127.0.0.1:3000/x', 'http://127.0.0.1:3000/x'],
  [' http://[::1]:3000 ', 'http://[::1]:3000'],
])('%s is %s', (given, expected) => expect(serverText(parseServer(given))).toBe(expected));

it.each([
  '',
  'https://',
  'http://a b',
  'ftp://example.com',
  'file:///etc/passwd',
  'https://user@example.com',
  'https://user:password@example.com',
  'https://example.com?x=1',
  'https://example.com/#x',
  'javascript:alert(1)',
  'mk_abcdefgh',
])('rejects %j', (given) => expect(() => parseServer(given)).toThrow());

it.each([
  ['https://example.com', true],
  ['http://localhost', true],
  ['http://127.0.0.1', true],
  ['http://127.1', true],
  ['http://[::1]', true],
  ['http://example.com', false],
  ['http://localhost.example.com', false],
  ['http://127.example.com', false],
  ['http://192.168.0.1', false],
  ['http://[::2]', false],
])('a key may be sent to %s: %s', (given, expected) =>
  expect(isProtected(parseServer(given))).toBe(expected),
);
