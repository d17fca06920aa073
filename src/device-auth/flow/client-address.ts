import type { Request } from 'express';
import ipaddr from 'ipaddr.js';

const NETWORK_BITS_IPV6 = 64;
/** Some load balancers append the client's port: `203.0.113.7:5123`, `[2001:db8::7]:5123`. */
const PORT = /^(?:([\d.]+)|\[([\da-f:.]+)\])(?::\d{1,5})?$/i;

/**
 * IP address of the client: the peer's, or the one that the proxies of `TRUST_PROXY` report. An IPv4 address mapped
 * to IPv6 is returned as IPv4.
 */
export function clientAddress(request: Request): string {
  const { ip = '', socket } = request;
  const named = ip.replace(PORT, '$1$2');
  const address = ipaddr.isValid(named) ? named : (socket.remoteAddress ?? '');
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : 'unknown';
}

/** Unit of rate limits: an IPv4 address, or an IPv6 /64, because a provider assigns a whole /64 to one customer. */
export function toNetwork(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address;
  const { parts } = ipaddr.IPv6.parse(address);
  const network = parts.map((part, i) => (i * 16 < NETWORK_BITS_IPV6 ? part : 0));
  return `${new ipaddr.IPv6(network).toString()}/${NETWORK_BITS_IPV6}`;
}
