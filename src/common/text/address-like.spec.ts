import { looksLikeAddress } from './address-like.js';

it.each([
  ...[
    'https://evil.example',
    'http://localhost/x',
    'Win www.evil now',
    'WWW.EVIL.COM',
    'evil.com',
    'Evil.Com/x',
  ],
  ...[
    'claim at evil.example:8080',
    'eve@evil.example',
    'a.b.c.museum',
    'пример.рф',
    'evil.xn--p1ai',
    '10.0.0.1',
  ],
  // Homographs of dot, colon and slash.
  ...[
    'evil．com',
    'evil。com',
    'evil｡com',
    'evil․com',
    'evil۔com',
    'evil\uA4F8com',
    'ｗｗｗ．ｅｖｉｌ',
    'https：／／evil',
  ],
  ...['https∶∕∕evil', 'evil\u{10A50}com', 'ⓔⓥⓘⓛ.ⓒⓞⓜ'],
  // Invisible characters and combining marks around the dot.
  ...['evil\u00AD.com', 'evil.\u200Dcom', 'evil\u0332.\u0332com', 'w\u034Fww.evil', 'evil.c\u115Fom'],
])('%j looks like an address', (name) => expect(looksLikeAddress(name)).toBe(true));

it.each([
  ...[
    'Acme',
    'Acme Inc.',
    'A. B. Smith & Co.',
    'R.E.M.',
    'St. Mary',
    'Acme: Ltd',
    'Acme / Tools',
    'v1.2',
    '3.5 mm',
  ],
  ...['O’Neill & <Söhne> 日本', 'Café…', 'www', '…and more', 'Acme . Tools', '日本。'],
])('%j does not look like an address', (name) => expect(looksLikeAddress(name)).toBe(false));

it('takes time in proportion to the length', () => {
  for (const part of ['.', 'a', '1..', ':', '-.', '\u0332'])
    expect(looksLikeAddress(part.repeat(100_000))).toBe(false);
});
