import type { JWSHeaderParameters } from 'jose';
import { startIdentityProvider } from '../../test/support/identity-provider.js';
import type { IdentityProvider } from '../../test/support/identity-provider.js';
import { IdentityProviderUnavailable } from './auth.errors.js';
import { IdentityProviderKeys } from './identity-provider-keys.js';

const TOKEN = { payload: '', signature: '' };

let provider: IdentityProvider;
let keys: IdentityProviderKeys;
let seconds: number;

beforeEach(async () => {
  provider = await startIdentityProvider();
  seconds = 0;
  keys = new IdentityProviderKeys(new URL(provider.jwksUrl), () => seconds * 1_000);
});
afterEach(() => provider.stop());

const find = (header: JWSHeaderParameters) => keys.find(header, TOKEN);

it('fetches once for many tokens', async () => {
  const { kid } = await provider.addKey('ES256');
  await Promise.all(Array.from({ length: 20 }, () => find({ alg: 'ES256', kid })));
  expect(provider.fetches()).toBe(1);
});

it('fetches once more for an unknown kid, but not again within 30 s', async () => {
  await provider.addKey('ES256');
  await find({ alg: 'ES256', kid: 'key-1' });
  seconds = 31;
  await Promise.all(
    Array.from({ length: 20 }, () => expect(find({ alg: 'ES256', kid: 'unknown' })).rejects.toThrow()),
  );
  expect(provider.fetches()).toBe(2);
  seconds = 60;
  await expect(find({ alg: 'ES256', kid: 'unknown' })).rejects.toThrow();
  expect(provider.fetches()).toBe(2);
});

it('finds a key that was added since', async () => {
  await provider.addKey('ES256');
  await find({ alg: 'ES256', kid: 'key-1' });
  await provider.addKey('ES256');
  seconds = 31;
  await expect(find({ alg: 'ES256', kid: 'key-2' })).resolves.toBeDefined();
});

it('finds a key that was added right behind the first fetch', async () => {
  await provider.addKey('ES256');
  await find({ alg: 'ES256', kid: 'key-1' });
  await provider.addKey('ES256');
  await expect(find({ alg: 'ES256', kid: 'key-2' })).resolves.toBeDefined();
  await expect(find({ alg: 'ES256', kid: 'unknown' })).rejects.toThrow();
  expect(provider.fetches()).toBe(2);
});

it('keeps its keys when the provider fails, and tries at most every 30 s', async () => {
  await provider.addKey('ES256');
  await find({ alg: 'ES256', kid: 'key-1' });
  await provider.behave('error');
  seconds = 3_600;
  for (let i = 0; i < 5; i++) await find({ alg: 'ES256', kid: 'key-1' });
  await expect(find({ alg: 'ES256', kid: 'unknown' })).rejects.toThrow();
  expect(provider.fetches()).toBe(2);
});

it('says so when there are no keys to look in', async () => {
  await provider.behave('garbage');
  await expect(find({ alg: 'ES256', kid: 'key-1' })).rejects.toThrow(IdentityProviderUnavailable);
});
