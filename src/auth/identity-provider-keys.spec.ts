import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { jest } from '@jest/globals';
import { exportJWK, generateKeyPair } from 'jose';
import type { JWSHeaderParameters } from 'jose';
import { startIdentityProvider } from '../../test/support/identity-provider.js';
import type { IdentityProvider } from '../../test/support/identity-provider.js';
import { IdentityProviderUnavailable } from './auth.errors.js';
import { IdentityProviderKeys } from './identity-provider-keys.js';

const TOKEN = { payload: '', signature: '' };
const UNKNOWN = { alg: 'ES256', kid: 'unknown' };

let provider: IdentityProvider;
let keys: IdentityProviderKeys;
let seconds: number;

beforeEach(async () => {
  provider = await startIdentityProvider();
  seconds = 0;
  for (const clock of [performance, Date]) {
    const start = clock.now();
    jest.spyOn(clock, 'now').mockImplementation(() => start + seconds * 1_000);
  }
  keys = new IdentityProviderKeys(new URL(provider.jwksUrl));
});
afterEach(async () => {
  jest.restoreAllMocks();
  await provider.stop();
});

const find = (header: JWSHeaderParameters) => keys.find(header, TOKEN);
const findUnknown = (count: number) =>
  Promise.all(
    Array.from({ length: count }, () =>
      expect(find(UNKNOWN)).rejects.toMatchObject({ code: 'ERR_JWKS_NO_MATCHING_KEY' }),
    ),
  );

it('fetches once for many tokens', async () => {
  const { kid } = await provider.addKey('ES256');
  await Promise.all(Array.from({ length: 20 }, () => find({ alg: 'ES256', kid })));
  expect(provider.fetches()).toBe(1);
});

it('fetches once more for an unknown kid, but not again within 30 s', async () => {
  await provider.addKey('ES256');
  await find({ alg: 'ES256', kid: 'key-1' });
  seconds = 31;
  await findUnknown(20);
  expect(provider.fetches()).toBe(2);
  seconds = 60;
  await findUnknown(20);
  expect(provider.fetches()).toBe(2);
  seconds = 62;
  await findUnknown(20);
  expect(provider.fetches()).toBe(3);
});

it('finds an added key, for all tokens that arrive together', async () => {
  await provider.addKey('ES256');
  await find({ alg: 'ES256', kid: 'key-1' });
  await provider.addKey('ES256');
  seconds = 31;
  await Promise.all(Array.from({ length: 20 }, () => find({ alg: 'ES256', kid: 'key-2' })));
  expect(provider.fetches()).toBe(2);
});

it('finds a key that was added right after the first fetch', async () => {
  await provider.addKey('ES256');
  await find({ alg: 'ES256', kid: 'key-1' });
  await provider.addKey('ES256');
  await expect(find({ alg: 'ES256', kid: 'key-2' })).resolves.toBeDefined();
  await findUnknown(1);
  expect(provider.fetches()).toBe(2);
});

it.each(['error', 'garbage', 'offline'] as const)(
  'keeps stale keys when the provider fails (%s), and refetches at most every 30 s',
  async (how) => {
    await provider.addKey('ES256');
    await find({ alg: 'ES256', kid: 'key-1' });
    await provider.behave(how);
    const fetched = jest.spyOn(globalThis, 'fetch');
    for (seconds = 3_600; seconds < 3_630; seconds += 5) {
      await find({ alg: 'ES256', kid: 'key-1' });
      await findUnknown(5);
    }
    expect(fetched).toHaveBeenCalledTimes(1);
    seconds = 7_200;
    await find({ alg: 'ES256', kid: 'key-1' });
    expect(fetched).toHaveBeenCalledTimes(2);
  },
);

it('drops a withdrawn key after 10 minutes', async () => {
  await provider.addKey('ES256');
  await find({ alg: 'ES256', kid: 'key-1' });
  provider.withdrawKeys();
  seconds = 599;
  await find({ alg: 'ES256', kid: 'key-1' });
  seconds = 601;
  await expect(find({ alg: 'ES256', kid: 'key-1' })).rejects.toThrow();
});

it('reports an unavailable provider while there is no key set, and tries again for the next token', async () => {
  await provider.addKey('ES256');
  await provider.behave('garbage');
  for (let i = 0; i < 3; i++)
    await expect(find({ alg: 'ES256', kid: 'key-1' })).rejects.toThrow(IdentityProviderUnavailable);
  await provider.behave('well');
  await expect(find({ alg: 'ES256', kid: 'key-1' })).resolves.toBeDefined();
});

it('rejects private and malformed keys of a set, and serves the others', async () => {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  const set = [
    { ...(await exportJWK(privateKey)), kid: 'private', alg: 'ES256' },
    { kty: 'EC', crv: 'P-256', x: '!', y: 'AA', kid: 'malformed', alg: 'ES256' },
    { kty: 'oct', k: 'c2VjcmV0', kid: 'secret', alg: 'HS256' },
    { ...(await exportJWK(publicKey)), kid: 'public', alg: 'ES256' },
  ];
  const server = createServer((_, response) => response.end(JSON.stringify({ keys: set })));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  keys = new IdentityProviderKeys(new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`));
  try {
    await expect(find({ alg: 'ES256', kid: 'public' })).resolves.toMatchObject({ type: 'public' });
    for (const kid of ['private', 'malformed']) await expect(find({ alg: 'ES256', kid })).rejects.toThrow();
    await expect(find({ alg: 'HS256', kid: 'secret' })).rejects.toThrow();
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
