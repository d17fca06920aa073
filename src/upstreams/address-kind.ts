import ipaddr from 'ipaddr.js';
import type { IPv4, IPv6 } from 'ipaddr.js';

/**
 * What an address is to an upstream: `public` ones are always allowed, `private` ones (loopback included) where
 * the operator says so, and `forbidden` ones never.
 */
export type AddressKind = 'public' | 'private' | 'forbidden';

const PUBLIC_RANGES = new Set(['unicast', 'documentation']);
const PRIVATE_RANGES = new Set(['loopback', 'private', 'carrierGradeNat', 'uniqueLocal', 'benchmarking']);

/** Addresses for examples (RFC 5737, RFC 3849, RFC 9637): nobody is there. */
const DOCUMENTATION = ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32', '3fff::/20'];
/** What local DNS proxies hand out for names that they route themselves. */
const BENCHMARKING = ['198.18.0.0/15'];
/** Of what `ipaddr.js` calls reserved. */
const RANGES = {
  documentation: DOCUMENTATION.map((range) => ipaddr.parseCIDR(range)),
  benchmarking: BENCHMARKING.map((range) => ipaddr.parseCIDR(range)),
};

/** All that has been given out for public use. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3') as [IPv6, number];

/** Where clouds tell a machine its secrets, beside 169.254.0.0/16 and fe80::/10. */
const METADATA = new Set([
  '100.100.100.200', // Alibaba Cloud
  '168.63.129.16', // Azure
  '192.0.0.192', // Oracle Cloud
  'fd00:ec2::254', // AWS
  'fd20:ce::254', // Google Cloud
  'fd00:42::42', // Scaleway
]);

/** Of an address in its usual form, as name resolution gives it. */
export function kindOf(text: string): AddressKind {
  if (!ipaddr.isValid(text)) return 'forbidden';
  const address = ipaddr.parse(text);
  return address.kind() === 'ipv4' ? kindOfIPv4(address as IPv4) : kindOfIPv6(address as IPv6);
}

function kindOfIPv4(address: IPv4): AddressKind {
  if (METADATA.has(address.toString())) return 'forbidden';
  return kindInItsRange(address);
}

function kindOfIPv6(address: IPv6): AddressKind {
  if (METADATA.has(address.toString())) return 'forbidden';
  const wrapped = wrappedIn(address);
  if (wrapped.length > 0) return worst(wrapped.map(kindOfIPv4));
  const kind = kindInItsRange(address);
  return kind === 'public' && !address.match(GLOBAL_UNICAST) ? 'forbidden' : kind;
}

function kindInItsRange(address: IPv4 | IPv6): AddressKind {
  const range = ipaddr.subnetMatch(address, RANGES, address.range());
  if (PUBLIC_RANGES.has(range)) return 'public';
  return PRIVATE_RANGES.has(range) ? 'private' : 'forbidden';
}

function worst(kinds: AddressKind[]): AddressKind {
  if (kinds.includes('forbidden')) return 'forbidden';
  return kinds.includes('private') ? 'private' : 'public';
}

const NOWHERE: IPv4 = ipaddr.IPv4.parse('0.0.0.0');

/** The IPv4 addresses that packets to an IPv6 address end up at; none when it is an address of its own. */
function wrappedIn(address: IPv6): IPv4[] {
  const bytes = address.toByteArray();
  const last = at(bytes, 12);
  switch (address.range()) {
    case 'ipv4Mapped': // ::ffff:0:0/96
    case 'rfc6145': // ::ffff:0:0:0/96
      return [last];
    case 'rfc6052':
      return [translated(bytes, last)];
    case '6to4': // 2002::/16
      return [at(bytes, 2)];
    case 'teredo': // 2001::/32: a server, and a client written in inverse
      return [at(bytes, 4), new ipaddr.IPv4(last.octets.map((octet) => octet ^ 0xff))];
    case 'unicast':
      return isCompatible(bytes) ? [last] : [];
    default:
      return [];
  }
}

/**
 * NAT64: 64:ff9b::/96, or any prefix that the network has chosen below 64:ff9b:1::/48. One of 96 bits is taken
 * as such; with the shorter ones (RFC 6052, 2.2) the last 24 bits are zero, and it cannot be told which it is.
 */
function translated(bytes: readonly number[], last: IPv4): IPv4 {
  const shorterPrefix = bytes[5] === 1 && last.octets.slice(1).every((octet) => octet === 0);
  return shorterPrefix ? NOWHERE : last;
}

/** ::/96, long deprecated and understood by some stacks still. */
function isCompatible(bytes: readonly number[]): boolean {
  return bytes.slice(0, 12).every((byte) => byte === 0);
}

function at(bytes: readonly number[], offset: number): IPv4 {
  return new ipaddr.IPv4(bytes.slice(offset, offset + 4));
}
