import type { Request } from 'express';
import ipaddr from 'ipaddr.js';

const NETWORK_BITS_IPV6 = 64;
/** Some balancers name a client with its port: `203.0.113.7:5123`, `[2001:db8::7]:5123`. */
const PORT = /^(?:([\d.]+)|\[([\da-f:.]+)\])(?::\d{1,5})?$/i;

/**
 * Where a request comes from: the peer, or what the proxies of `TRUST_PROXY` say. IPv4 wrapped in IPv6 counts
 * as what it wraps.
 */
export function clientAddress(request: Request): string {
  const { ip = '', socket } = request;
  const named = ip.replace(PORT, '$1$2');
  const address = ipaddr.isValid(named) ? named : (socket.remoteAddress ?? '');
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : 'unknown';
}

/** What requests of one party have in common: the address, or of IPv6 the network, which one customer has alone. */
export function networkOf(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address;
  const { parts } = ipaddr.IPv6.parse(address);
  const network = parts.map((part, i) => (i * 16 < NETWORK_BITS_IPV6 ? part : 0));
  return `${new ipaddr.IPv6(network).toString()}/${NETWORK_BITS_IPV6}`;
}
