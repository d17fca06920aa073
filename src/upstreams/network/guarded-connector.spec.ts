import { jest } from '@jest/globals';
import { Client } from 'undici';
import type { Settings } from '../../config/settings.js';
import { startTlsUpstream, startUpstream, TLS_CERTIFICATE } from '../../../test/support/fake-upstream.js';
import type { FakeUpstream } from '../../../test/support/fake-upstream.js';
import { AddressGuard } from './address-guard.js';
import { HostResolver } from '../name-resolution/host-resolver.js';
import { guardedConnector } from './guarded-connector.js';

const refused = { code: 'ERR_ADDRESS_REJECTED' };
const LOOPBACK = { address: '127.0.0.1', family: 4 };
const METADATA = { address: '169.254.169.254', family: 4 };

let upstream: FakeUpstream;
let resolver: HostResolver;
let resolve: jest.SpiedFunction<HostResolver['resolve']>;

beforeEach(async () => {
  upstream = await startUpstream();
  resolver = new HostResolver();
  resolve = jest.spyOn(resolver, 'resolve').mockResolvedValue([LOOPBACK]);
});
afterEach(() => upstream.close());

async function get(
  origin: string,
  privateNetworks: Settings['upstreamPrivateNetworks'] = 'allow',
  options: Parameters<typeof guardedConnector>[2] = {},
): Promise<number> {
  const guard = new AddressGuard({ upstreamPrivateNetworks: privateNetworks } as Settings, resolver);
  const client = new Client(origin, {
    connect: guardedConnector(guard, { organizationId: 1 }, { timeout: 60_000, ...options }),
  });
  try {
    const { statusCode, body } = await client.request({ method: 'GET', path: '/' });
    await body.dump();
    return statusCode;
  } finally {
    await client.destroy();
  }
}

it('connects to the checked address with the requested name', async () => {
  expect(await get(`http://upstream.example:${upstream.port}`)).toBe(200);
  expect(upstream.requests[0]!.headers.host).toBe(`upstream.example:${upstream.port}`);
  expect(resolve).toHaveBeenCalledTimes(1);
});

it('rejects a name whose address changed after the check', async () => {
  const guard = new AddressGuard({ upstreamPrivateNetworks: 'deny' } as Settings, resolver);
  resolve.mockResolvedValueOnce([{ address: '93.184.216.34', family: 4 }]);
  await guard.assertHostAllowed('rebinding.example', 1);
  for (const address of [LOOPBACK, METADATA]) {
    resolve.mockResolvedValueOnce([address]);
    await expect(get(`http://rebinding.example:${upstream.port}`, 'deny')).rejects.toMatchObject(refused);
  }
  expect(upstream.requests).toEqual([]);
});

it('does not resolve again between check and connection', async () => {
  resolve.mockResolvedValueOnce([LOOPBACK]).mockResolvedValue([METADATA]);
  expect(await get(`http://rebinding.example:${upstream.port}`)).toBe(200);
  await expect(get(`http://rebinding.example:${upstream.port}`)).rejects.toMatchObject(refused);
});

it.each([
  '127.0.0.1',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '2130706433',
  '0177.0.0.1',
  '0x7f.1',
  'localhost',
  'localhost.',
])('connects to %s only if private networks are allowed', async (host) => {
  resolve.mockRestore();
  await expect(get(`http://${host}:${upstream.port}`, 'deny')).rejects.toMatchObject(refused);
  expect(upstream.requests).toEqual([]);
});

it.each(['127.0.0.1', '2130706433', '0177.0.0.1', '0x7f.1', '[::ffff:127.0.0.1]', 'localhost.'])(
  'reaches this machine as %s where they are',
  async (host) => expect(await get(`http://${host}:${upstream.port}`)).toBe(200),
);

it.each([
  '169.254.169.254',
  '0.0.0.0',
  '[::]',
  '[::ffff:a9fe:a9fe]',
  '[64:ff9b::a9fe:a9fe]',
  '[fe80::1]',
  '224.0.0.1',
])('never connects to %s', async (host) => {
  for (const setting of ['allow', 'deny'] as const) {
    await expect(get(`http://${host}:${upstream.port}`, setting)).rejects.toMatchObject(refused);
  }
});

describe('a connection with TLS', () => {
  let secure: FakeUpstream;

  beforeEach(async () => {
    secure = await startTlsUpstream();
  });
  afterEach(() => secure.close());

  it('connects to the checked address and verifies the certificate of the name', async () => {
    expect(await get(`https://upstream.example:${secure.port}`, 'allow', { ca: TLS_CERTIFICATE })).toBe(200);
    await expect(
      get(`https://another.example:${secure.port}`, 'allow', { ca: TLS_CERTIFICATE }),
    ).rejects.toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
  });

  it('rejects a self-signed certificate', async () => {
    await expect(get(`https://upstream.example:${secure.port}`)).rejects.toMatchObject({
      code: expect.stringContaining('SELF_SIGNED'),
    });
  });

  it('rejects both addresses and names', async () => {
    for (const host of ['127.0.0.1', 'upstream.example']) {
      await expect(get(`https://${host}:${secure.port}`, 'deny')).rejects.toMatchObject(refused);
    }
    expect(secure.requests).toEqual([]);
  });
});

it('reports a rejected address asynchronously, like every other error', async () => {
  const guard = new AddressGuard({ upstreamPrivateNetworks: 'deny' } as Settings, resolver);
  const target = { protocol: 'http:', hostname: '127.0.0.1', host: '127.0.0.1', port: '80' };
  let hasReturned = false;
  const told = new Promise((resolveTold) => {
    guardedConnector(guard, { organizationId: 1 })(target, (...[error]) => resolveTold([hasReturned, error]));
  });
  hasReturned = true;
  expect(await told).toEqual([true, expect.objectContaining(refused)]);
});
