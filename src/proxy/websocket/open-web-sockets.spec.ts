import type { Invalidations } from '../../database/invalidation/invalidations.js';
import type { AuthenticatedKey, KeyAuthenticator } from '../../keys/key-authenticator.js';
import { OpenWebSockets } from './open-web-sockets.js';

it('announces a verification to the connections of the key before its result', async () => {
  const key = { id: 1 } as AuthenticatedKey;
  const results: ((key: AuthenticatedKey | undefined) => void)[] = [];
  let invalidate = () => undefined as void;
  const authenticate = () => new Promise((resolve) => results.push(resolve));
  const open = new OpenWebSockets(
    { authenticate } as unknown as KeyAuthenticator,
    { on: (listener: () => void) => (invalidate = listener) } as unknown as Invalidations,
  );
  const calls: string[] = [];
  const holder = (name: string) => ({
    secret: 'mk_1',
    onVerification: () => void calls.push(`${name} waits`),
    onKey: () => void calls.push(`${name} continues`),
    onKeyLost: (code: string) => void calls.push(`${name} ends with ${code}`),
  });
  open.add(holder('a'));
  open.add(holder('b'));
  expect(calls).toEqual(['a waits', 'b waits']);
  results[0]!(key);
  await new Promise(setImmediate);
  results[1]!(key); // the second connection made the first result outdated
  await new Promise(setImmediate);
  expect(calls.slice(-2)).toEqual(['a continues', 'b continues']);
  invalidate();
  expect(calls.slice(-2)).toEqual(['a waits', 'b waits']);
  results[2]!(undefined);
  await new Promise(setImmediate);
  expect(calls.slice(-2)).toEqual(['a ends with invalid_proxy_key', 'b ends with invalid_proxy_key']);
  open.onApplicationShutdown();
});
