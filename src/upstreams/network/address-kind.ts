import ipaddr from 'ipaddr.js';
import type { IPv4, IPv6 } from 'ipaddr.js';

/**
 * Kind of an address of an upstream. `public` addresses are always allowed, `private` ones (loopback included) if the
 * operator allows them, and `forbidden` ones never.
 */
export type AddressKind = 'public' | 'private' | 'forbidden';

const PUBLIC_RANGES = new Set(['unicast', 'documentation']);
const PRIVATE_RANGES = new Set(['loopback', 'private', 'carrierGradeNat', 'uniqueLocal', 'benchmarking']);

/** Addresses for examples (RFC 5737, RFC 3849, RFC 9637), which no host has. */
const DOCUMENTATION = ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32', '3fff::/20'];
/** Addresses that local DNS proxies return for names that they route themselves. */
const BENCHMARKING = ['198.18.0.0/15'];
/** Ranges that `ipaddr.js` counts as reserved. */
const RANGES = {
  documentation: DOCUMENTATION.map((range) => ipaddr.parseCIDR(range)),
  benchmarking: BENCHMARKING.map((range) => ipaddr.parseCIDR(range)),
};

/** Addresses that are assigned for public use. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3') as [IPv6, number];

/** Metadata services of clouds outside 169.254.0.0/16 and fe80::/10. They reveal the credentials of a machine. */
const METADATA = new Set([
  '100.100.100.200', // Alibaba Cloud
  '168.63.129.16', // Azure
  '192.0.0.192', // Oracle Cloud
  'fd00:ec2::254', // AWS
  'fd20:ce::254', // Google Cloud
  'fd00:42::42', // Scaleway
]);

/** Classifies an address in its canonical form. */
export function classifyAddress(text: string): AddressKind {
  if (!ipaddr.isValid(text)) return 'forbidden';
  const address = ipaddr.parse(text);
  return address.kind() === 'ipv4' ? classifyIPv4(address as IPv4) : classifyIPv6(address as IPv6);
}

function classifyIPv4(address: IPv4): AddressKind {
  if (METADATA.has(address.toString())) return 'forbidden';
  return classifyRange(address);
}

function classifyIPv6(address: IPv6): AddressKind {
  if (METADATA.has(address.toString())) return 'forbidden';
  const embedded = embeddedIPv4(address);
  if (embedded.length > 0) return worst(embedded.map(classifyIPv4));
  const kind = classifyRange(address);
  return kind === 'public' && !address.match(GLOBAL_UNICAST) ? 'forbidden' : kind;
}

function classifyRange(address: IPv4 | IPv6): AddressKind {
  const range = ipaddr.subnetMatch(address, RANGES, address.range());
  if (PUBLIC_RANGES.has(range)) return 'public';
  return PRIVATE_RANGES.has(range) ? 'private' : 'forbidden';
}

function worst(kinds: AddressKind[]): AddressKind {
  if (kinds.includes('forbidden')) return 'forbidden';
  return kinds.includes('private') ? 'private' : 'public';
}

const UNSPECIFIED: IPv4 = ipaddr.IPv4.parse('0.0.0.0');

/** Returns the IPv4 addresses that receive packets to an IPv6 address; none if no IPv4 address is embedded. */
function embeddedIPv4(address: IPv6): IPv4[] {
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
    case 'teredo': // 2001::/32: a server, and a client with inverted bits
      return [at(bytes, 4), new ipaddr.IPv4(last.octets.map((octet) => octet ^ 0xff))];
    case 'unicast':
      return isCompatible(bytes) ? [last] : [];
    default:
      return [];
  }
}

/**
 * Extracts the IPv4 address of NAT64: 64:ff9b::/96, or a prefix below 64:ff9b:1::/48 that the network chose. Prefixes
 * shorter than 96 bits (RFC 6052, section 2.2) end with 24 zero bits, and their length is unknown.
 */
function translated(bytes: readonly number[], last: IPv4): IPv4 {
  const shorterPrefix = bytes[5] === 1 && last.octets.slice(1).every((octet) => octet === 0);
  return shorterPrefix ? UNSPECIFIED : last;
}

/** Whether the address is in ::/96, which is deprecated but still supported by some stacks. */
function isCompatible(bytes: readonly number[]): boolean {
  return bytes.slice(0, 12).every((byte) => byte === 0);
}

function at(bytes: readonly number[], offset: number): IPv4 {
  return new ipaddr.IPv4(bytes.slice(offset, offset + 4));
}
