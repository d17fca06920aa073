import { imageHost, isLoadable, isSafeLink } from './safe-link';

it.each([
  ['https://example.com/', true],
  ['mailto:ada@example.com', true],
  ['#part', true],
  ['/docs', true],
  ['javascript:alert(1)', false],
  ['JaVaScRiPt:alert(1)', false],
  ['java\nscript:alert(1)', false],
  [' javascript:alert(1)', false],
  ['data:text/html,<script>', false],
  ['vbscript:x', false],
  ['file:///etc/passwd', false],
  ['', false],
  [undefined, false],
])('judges %j', (href, expected) => {
  expect(isSafeLink(href)).toBe(expected);
});

it.each([
  ['http://example.com/a.png', 'https:', false],
  ['https://example.com/a.png', 'https:', true],
  ['http://example.com/a.png', 'http:', true],
  ['https://example.com/a.png', 'http:', true],
])('knows whether %s can be loaded on %s', (src, protocol, expected) => {
  expect(isLoadable(src, protocol)).toBe(expected);
});

it('names the host of an image', () => {
  expect(imageHost('https://img.example.com/a.png')).toBe('img.example.com');
  expect(imageHost('data:image/svg+xml,<svg onload=alert(1)>')).toBeUndefined();
  expect(imageHost('relative.png')).toBeUndefined();
});
