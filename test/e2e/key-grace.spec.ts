import { setTimeout as pause } from 'node:timers/promises';
import { KeyAuthenticator } from '../../src/keys/key-authenticator.js';
import { newKeySecret } from '../../src/keys/key-format.js';
import { DatabaseUnavailable } from '../../src/keys/keys.errors.js';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';

const GRACE_SECONDS = 4;

let app: TestApp;
let keys: KeyAuthenticator;

const start = async (graceSeconds: number) => {
  app = await startApp({ KEY_GRACE_SECONDS: String(graceSeconds) });
  keys = app.app.get(KeyAuthenticator, { strict: false });
};
afterEach(async () => {
  await app.database.admit();
  await app.close();
});

const mint = async () => (await (await app.as('ann')).post('/me/keys').expect(201)).body.api_key as string;
const ask = async (secret: string) => keys.authenticate(secret);

it('keys verified before are served while the database is gone, others are not, and not for ever', async () => {
  await start(GRACE_SECONDS);
  const [known, unseen] = [await mint(), await mint()];
  expect(await ask(known)).toBeDefined();
  await app.database.refuse();
  const goneAt = performance.now();
  expect(await ask(known)).toBeDefined();
  await expect(ask(unseen)).rejects.toThrow(DatabaseUnavailable);
  await expect(ask(newKeySecret())).rejects.toThrow(DatabaseUnavailable);
  expect(await ask('mk_not-a-key')).toBeUndefined();
  await pause(GRACE_SECONDS * 1_000 - (performance.now() - goneAt)); // the grace period is what is tested
  await eventually(() => expect(ask(known)).rejects.toThrow(DatabaseUnavailable));
  await app.database.admit();
  await eventually(async () => expect(await ask(known)).toBeDefined());
  expect(await ask(unseen)).toBeDefined();
});

it('with no grace nothing is served once the lease is over', async () => {
  await start(0);
  const known = await mint();
  expect(await ask(known)).toBeDefined();
  await app.database.refuse();
  await eventually(() => expect(ask(known)).rejects.toThrow(DatabaseUnavailable));
});

it('a key revoked while a replica could not hear of it is refused when it is back', async () => {
  await start(60);
  const known = await mint();
  expect(await ask(known)).toBeDefined();
  await app.database.refuse();
  expect(await ask(known)).toBeDefined();
  await app.database.admit();
  await app.database.query('UPDATE proxy_keys SET revoked_at = now()'); // by another replica
  await eventually(async () => expect(await ask(known)).toBeUndefined());
});
