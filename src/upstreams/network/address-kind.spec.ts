import { classifyAddress } from './address-kind.js';

const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '172.15.255.255',
  '172.32.0.1',
  '100.63.255.255',
  '100.128.0.1',
  '11.0.0.1',
  ...['192.0.2.1', '198.51.100.7', '203.0.113.9'],
];
const PRIVATE = [
  ...['127.0.0.1', '127.255.255.254', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
  ...['100.64.0.1', '100.127.255.255', '198.18.0.1', '198.19.255.255'],
];
const FORBIDDEN = [
  ...[
    '0.0.0.0',
    '0.1.2.3',
    '169.254.0.1',
    '169.254.169.254',
    '100.100.100.200',
    '192.0.0.192',
    '168.63.129.16',
  ],
  ...['224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255', '192.0.0.8', '192.88.99.1'],
];

it.each(PUBLIC)('%s is public', (address) => expect(classifyAddress(address)).toBe('public'));
it.each(PRIVATE)('%s is private', (address) => expect(classifyAddress(address)).toBe('private'));
it.each(FORBIDDEN)('%s is forbidden', (address) => expect(classifyAddress(address)).toBe('forbidden'));

it.each([
  ['2606:4700:4700::1111', 'public'],
  ['2a00:1450:4001:80b::200e', 'public'],
  ['::1', 'private'],
  ['fc00::1', 'private'],
  ['fdff:ffff::1', 'private'],
  ['::', 'forbidden'],
  ['fe80::1', 'forbidden'],
  ['fe80::1%eth0', 'forbidden'],
  ['febf::1', 'forbidden'],
  ['fec0::1', 'forbidden'],
  ['ff02::1', 'forbidden'],
  ['fd00:ec2::254', 'forbidden'],
  ['fd00:0ec2:0:0:0:0:0:0254', 'forbidden'],
  ['fd20:ce::254', 'forbidden'],
  ['fd00:42::42', 'forbidden'],
  ['2001:db8::1', 'public'],
  ['3fff::1', 'public'],
  ['100::1', 'forbidden'],
  ['5f00::1', 'forbidden'],
  ['4000::1', 'forbidden'],
])('%s is %s', (address, kind) => expect(classifyAddress(address)).toBe(kind));

const bytesOf = (v4: string) => v4.split('.').map(Number);
const hex = (v4: string) => {
  const [a = 0, b = 0, c = 0, d = 0] = bytesOf(v4);
  return [(a << 8) | b, (c << 8) | d].map((part) => part.toString(16)).join(':');
};
const inverse = (v4: string) =>
  bytesOf(v4)
    .map((byte) => byte ^ 0xff)
    .join('.');

describe.each([
  ['IPv4-mapped', (v4: string) => `::ffff:${v4}`],
  ['IPv4-mapped, in hexadecimal', (v4: string) => `::ffff:${hex(v4)}`],
  ['IPv4-translated', (v4: string) => `::ffff:0:${hex(v4)}`],
  ['IPv4-compatible', (v4: string) => `::${hex(v4)}`],
  ['NAT64', (v4: string) => `64:ff9b::${hex(v4)}`],
  ['local NAT64', (v4: string) => `64:ff9b:1::${hex(v4)}`],
  ['local NAT64 with a prefix of its own', (v4: string) => `64:ff9b:1:7:8:9:${hex(v4)}`],
  ['6to4', (v4: string) => `2002:${hex(v4)}::1`],
  ['the client of Teredo', (v4: string) => `2001:0:808:808:0:0:${hex(inverse(v4))}`],
  ['the server of Teredo', (v4: string) => `2001:0:${hex(v4)}:0:0:${hex(inverse('8.8.8.8'))}`],
])('%s has the kind of the embedded address', (_wrapper, wrap) => {
  // ::0.0.0.0 and ::0.0.0.1 are addresses of IPv6 itself
  it.each([
    ['8.8.8.8', 'public'],
    ['127.0.0.1', 'private'],
    ['10.1.2.3', 'private'],
    ['192.168.0.1', 'private'],
    ['100.64.0.1', 'private'],
    ['169.254.169.254', 'forbidden'],
    ['100.100.100.200', 'forbidden'],
    ['224.0.0.1', 'forbidden'],
    ['255.255.255.255', 'forbidden'],
    ['0.0.0.2', 'forbidden'],
  ])('%s', (v4, kind) => expect(classifyAddress(wrap(v4))).toBe(kind));
});

it.each([
  ['/48', '64:ff9b:1:a00:0:800::'],
  ['/56', '64:ff9b:1:a:0:8::'],
  ['/64', '64:ff9b:1:0:a:0:800::'],
])(
  'local NAT64 with a prefix of %s is forbidden, because the embedded address is ambiguous',
  (_prefix, address) => {
    expect(classifyAddress(address)).toBe('forbidden');
  },
);

it.each(['', 'localhost', 'example.com', '1.2.3.4.5', '[::1]', '::1/128'])('%j is not an address', (text) => {
  expect(classifyAddress(text)).toBe('forbidden');
});
