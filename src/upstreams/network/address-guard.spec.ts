import { jest } from '@jest/globals';
import type { LookupAddress, LookupOptions } from 'node:dns';
import type { Settings } from '../../config/settings.js';
import { AddressGuard, AddressRejected } from './address-guard.js';
import { HostResolver } from '../name-resolution/host-resolver.js';

/** Answers as told, and remembers what it was asked. */
class FakeResolver extends HostResolver {
  readonly asked: string[] = [];

  constructor(private readonly answers: Record<string, string[]>) {
    super();
  }

  override resolve(hostname: string): Promise<LookupAddress[]> {
    this.asked.push(hostname);
    const addresses = this.answers[hostname];
    if (!addresses) return Promise.reject(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }));
    return Promise.resolve(addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })));
  }
}

function guardWith(
  upstreamPrivateNetworks: Settings['upstreamPrivateNetworks'],
  answers: Record<string, string[]> = {},
): { guard: AddressGuard; resolver: FakeResolver } {
  const resolver = new FakeResolver(answers);
  return { guard: new AddressGuard({ upstreamPrivateNetworks } as Settings, resolver), resolver };
}

const PUBLIC = '93.184.216.34';
const PUBLIC_6 = '2606:2800:21f:cb07:6820:80da:af6b:8b2c';
const FORBIDDEN = ['169.254.169.254', '0.0.0.0', '224.0.0.1', 'fe80::1', '::', '::ffff:169.254.169.254'];
const PRIVATE = ['127.0.0.1', '10.0.0.1', '172.16.0.1', '192.168.0.1', '100.64.0.1', '::1', 'fd00::1'];

describe('an address', () => {
  it.each(FORBIDDEN)('%s is rejected with all settings', (address) => {
    for (const setting of ['allow', 'deny'] as const) {
      expect(() => guardWith(setting).guard.assertAllowed(address)).toThrow(AddressRejected);
    }
  });

  it.each(PRIVATE)('%s is rejected unless private networks are allowed', (address) => {
    expect(() => guardWith('deny').guard.assertAllowed(address)).toThrow(AddressRejected);
    guardWith('allow').guard.assertAllowed(address);
  });

  it.each([PUBLIC, PUBLIC_6])('%s is allowed', (address) => guardWith('deny').guard.assertAllowed(address));
});

describe('a host that is saved', () => {
  it.each([...FORBIDDEN, ...PRIVATE])('is rejected as the address %s, without a lookup', async (address) => {
    const { guard, resolver } = guardWith('deny');
    const hostname = address.includes(':') ? `[${address}]` : address;
    await expect(guard.assertHostAllowed(hostname, 1)).rejects.toThrow(AddressRejected);
    expect(resolver.asked).toEqual([]);
  });

  it.each([...FORBIDDEN, ...PRIVATE])('is rejected as a name of %s', async (address) => {
    const { guard } = guardWith('deny', { 'inside.example': [address] });
    await expect(guard.assertHostAllowed('inside.example', 1)).rejects.toThrow(AddressRejected);
  });

  it.each([
    [PUBLIC, '10.0.0.1'],
    ['10.0.0.1', PUBLIC],
    [PUBLIC_6, PUBLIC, '::1'],
  ])('is rejected if any of its addresses is: %s, %s', async (...addresses) => {
    const { guard } = guardWith('deny', { 'mixed.example': addresses });
    await expect(guard.assertHostAllowed('mixed.example', 1)).rejects.toThrow(AddressRejected);
  });

  it.each(['localhost.', 'LOCALHOST', 'api.localhost', 'a.b.localhost.'])(
    'is this machine as %s, whatever name servers say',
    async (hostname) => {
      const { guard } = guardWith('deny', { localhost: ['127.0.0.1', '::1'], [hostname]: [PUBLIC] });
      await expect(guard.assertHostAllowed(hostname, 1)).rejects.toThrow(AddressRejected);
    },
  );

  it('passes localhost names to the resolver as localhost', async () => {
    const guard = new AddressGuard({ upstreamPrivateNetworks: 'deny' } as Settings, new HostResolver());
    await expect(guard.assertHostAllowed('localhost.', 1)).rejects.toThrow(AddressRejected);
  });

  it.each(['notlocalhost', 'localhost.example'])('is not treated as localhost: %s', async (hostname) => {
    const { guard } = guardWith('deny', { localhost: ['127.0.0.1'], [hostname]: [PUBLIC] });
    await guard.assertHostAllowed(hostname, 1);
  });

  it('is allowed with public addresses, and if its name does not resolve', async () => {
    const { guard } = guardWith('deny', { 'public.example': [PUBLIC, PUBLIC_6] });
    await guard.assertHostAllowed('public.example', 1);
    await guard.assertHostAllowed('unknown.example', 1);
  });

  it('is allowed if name servers take too long', async () => {
    const { guard, resolver } = guardWith('deny');
    jest.spyOn(resolver, 'resolve').mockReturnValue(new Promise(() => undefined));
    await guard.assertHostAllowed('slow.example', 1, 20);
  });

  it('is rejected with a message that contains no address', async () => {
    const { guard } = guardWith('deny', { 'inside.example': ['10.11.12.13'] });
    const error = await guard.assertHostAllowed('inside.example', 1).catch((refusal: Error) => refusal);
    expect((error as Error).message).toMatch(/private network/);
    expect((error as Error).message).not.toContain('10.11.12.13');
  });
});

describe('a lookup for a connection', () => {
  const look = (guard: AddressGuard, hostname: string, options: LookupOptions = {}) =>
    new Promise<unknown>((resolve, reject) => {
      guard.lookupFor({ organizationId: 1 })(hostname, options, (error, address, family) => {
        if (error) reject(error);
        else resolve(family === undefined ? address : { address, family });
      });
    });

  const both = { 'public.example': [PUBLIC_6, PUBLIC] };

  it('returns all addresses on request, in the order of the resolver', async () => {
    const { guard } = guardWith('deny', both);
    expect(await look(guard, 'public.example', { all: true })).toEqual([
      { address: PUBLIC_6, family: 6 },
      { address: PUBLIC, family: 4 },
    ]);
  });

  it.each([
    [{}, PUBLIC_6, 6],
    [{ family: 0 }, PUBLIC_6, 6],
    [{ family: 4 }, PUBLIC, 4],
    [{ family: 6 }, PUBLIC_6, 6],
    [{ family: 'IPv4' as const }, PUBLIC, 4],
  ])('returns one address for %j', async (options, address, family) => {
    expect(await look(guardWith('deny', both).guard, 'public.example', options)).toEqual({ address, family });
  });

  it.each([{ all: true }, { all: false }, { family: 4 }])(
    'returns no address for %j when one is rejected',
    async (options) => {
      const { guard } = guardWith('deny', { 'mixed.example': [PUBLIC, 'fd00::1'] });
      await expect(look(guard, 'mixed.example', options)).rejects.toThrow(AddressRejected);
    },
  );

  it('fails with ENOTFOUND if the family has no address', async () => {
    const { guard } = guardWith('deny', { 'four.example': [PUBLIC], 'empty.example': [] });
    for (const [hostname, family] of [
      ['four.example', 6],
      ['empty.example', 0],
      ['unknown.example', 0],
    ] as const) {
      await expect(look(guard, hostname, { family })).rejects.toMatchObject({ code: 'ENOTFOUND' });
    }
  });

  it('resolves once and returns the checked addresses', async () => {
    const { guard, resolver } = guardWith('deny', both);
    await look(guard, 'public.example', { all: true });
    expect(resolver.asked).toEqual(['public.example']);
  });
});
