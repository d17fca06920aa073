import type { Request } from 'express';
import { clientAddress, toNetwork } from './client-address.js';

const request = (ip: string | undefined, remoteAddress?: string) =>
  ({ ip, socket: { remoteAddress } }) as unknown as Request;

it.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['2001:DB8:0:0::1', '2001:db8::1'],
  ['fe80::1%eth0', 'fe80::1%eth0'],
  ['203.0.113.7:5123', '203.0.113.7'],
  ['[2001:db8::1]:5123', '2001:db8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
])('the address of %s is %s', (ip, address) => {
  expect(clientAddress(request(ip))).toBe(address);
});

it('the address is that of the peer if a proxy sends an invalid one', () => {
  expect(clientAddress(request('nonsense', '::ffff:10.0.0.1'))).toBe('10.0.0.1');
  expect(clientAddress(request(undefined, '10.0.0.1'))).toBe('10.0.0.1');
  expect(clientAddress(request(undefined))).toBe('unknown');
});

it.each([
  ['203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8::/64'],
  ['::1', '::/64'],
  ['unknown', 'unknown'],
])('the network of %s is %s', (address, network) => {
  expect(toNetwork(address)).toBe(network);
});
