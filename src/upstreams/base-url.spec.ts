import { normalizeBaseUrl, isSameOrigin } from './base-url.js';

it.each([
  ['https://api.openai.com/v1', 'https://api.openai.com/v1'],
  ['https://api.anthropic.com', 'https://api.anthropic.com'],
  ['https://api.anthropic.com/', 'https://api.anthropic.com'],
  ['https://example.com/v1///', 'https://example.com/v1'],
  ['HTTPS://API.Example.COM:443/V1/', 'https://api.example.com/V1'],
  ['http://example.com:80', 'http://example.com'],
  ['http://example.com:443', 'http://example.com:443'],
  ['http://localhost:11434/v1', 'http://localhost:11434/v1'],
  ['http://localhost.:1/', 'http://localhost.:1'],
  ['https://example.com/a/../b/./c', 'https://example.com/b/c'],
  ['https://example.com/%7Ea@b', 'https://example.com/%7Ea@b'],
  ['https://bücher.example/ü', 'https://xn--bcher-kva.example/%C3%BC'],
  ['http://[::1]:8080/v1', 'http://[::1]:8080/v1'],
  ['http://[0:0:0:0:0:ffff:127.0.0.1]', 'http://[::ffff:7f00:1]'],
])('%s is stored as %s', (text, normal) => expect(normalizeBaseUrl(text)).toBe(normal));

it.each([
  'http://2130706433/',
  'http://0x7f000001',
  'http://017700000001',
  'http://0177.0.0.1',
  'http://0x7f.1',
  'http://127.1',
  'http://127.0.0.1.',
  'http://127。0。0。1',
  'http://１２７.0.0.1',
  'http://%31%32%37.0.0.1',
])('%s is 127.0.0.1', (text) => expect(normalizeBaseUrl(text)).toBe('http://127.0.0.1'));

it.each([
  '',
  'example.com',
  '//example.com',
  '/v1',
  'ftp://example.com',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'https:example.com',
  'https:/example.com',
  'https:///example.com',
  'https://',
  'https:///',
  'https://:443',
  'https://example.com:0',
  'https://example.com:65536',
  'https://example.com:port',
  'https://user@example.com',
  'https://user:secret@example.com',
  'https://@example.com',
  'https://:@example.com',
  'https://example.com?key=1',
  'https://example.com/v1?key=1',
  'https://example.com/v1?',
  'https://example.com/v1#there',
  'https://example.com#',
  'https://example.com\\@evil.example',
  'https:\\\\example.com',
  'https://example.com/a\\..\\b',
  ' https://example.com',
  'https://example.com ',
  'https://exa\tmple.com',
  'https://exa\nmple.com/',
  'https://example.com/a b',
  'https://example.com/\0',
  'https://example.com/\ud800',
  'https://exa mple.com',
  'https://exa<mple.com',
  'https://256.256.256.256',
  'https://[::1',
  'https://[fe80::1%25eth0]',
  `https://example.com/${'a'.repeat(2_048)}`,
  `https://example.com/${'ü'.repeat(1_000)}`, // too long as it would be stored
])('%j is not a base URL', (text) => expect(normalizeBaseUrl(text)).toBeUndefined());

it('may have 2,048 characters', () => {
  const text = `https://example.com/${'a'.repeat(2_028)}`;
  expect(normalizeBaseUrl(text)).toBe(text);
  expect(normalizeBaseUrl(`${text}a`)).toBeUndefined();
});

it.each([
  ['https://example.com/v1', 'https://example.com/v2', true],
  ['https://example.com', 'https://example.com:443/v1', true],
  ['http://example.com:80', 'http://example.com', true],
  ['https://example.com', 'http://example.com', false],
  ['https://example.com', 'https://example.com:444', false],
  ['https://example.com', 'https://example.com.', false],
  ['https://example.com', 'https://www.example.com', false],
])('isSameOrigin(%s, %s) is %s', (one, other, same) => expect(isSameOrigin(one, other)).toBe(same));
