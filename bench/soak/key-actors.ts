import { setTimeout as pause } from 'node:timers/promises';
import { newSession } from '../support/session.js';
import type { ApiResponse } from './client.js';
import { pick } from './document-actors.js';
import type { KeyUser } from './keys.js';
import type { Owner } from './owners.js';

const DENIED_SHARE = 0.1;
const PATIENT_SHARE = 0.3;
/** Minimum time between two polls of a device, and some reserve. */
const POLL_INTERVAL_MS = 5_200;
const REPEATS = 4;
const REPEAT_PAUSE_MS = 250;

let loginCount = 0;

/** Revokes a key while both replicas serve it. Both must reject it from then on. */
export async function revokeInUse(keys: KeyUser, owners: readonly Owner[]): Promise<void> {
  const key = await keys.createKey(pick(owners)!);
  for (const replica of keys.client.replicas) await keys.use(key, false, replica);
  const meanwhile = keys.client.replicas.map((replica) => keys.useDuringRevocation(key, replica));
  await keys.revoke(key);
  for (let i = 0; i < REPEATS; i++) {
    await keys.expectRejected(key);
    await pause(REPEAT_PAUSE_MS);
  }
  await Promise.all(meanwhile);
}

/** A user joins a team, uses its pool, and leaves or is removed. That must end the validity of the key. */
export async function joinAndLeave(keys: KeyUser, team: Owner, user: string): Promise<void> {
  const { client } = keys;
  const session = await newSession(user);
  const email = `${user}@example.com`;
  const invite = { kind: 'invite', method: 'POST', path: `${team.base}/invite`, expect: [201] } as const;
  await client.insist({ ...invite, bearer: team.session, body: { email, role: 'member' } }, [409]);
  const list = { kind: 'list invitations', method: 'GET', path: '/me/invitations', expect: [200] } as const;
  const { invitations } = (await client.insist({ ...list, bearer: session })).body;
  client.ledger.check('there is one invitation per invited user', invitations.length === 1, email);
  const path = `/me/invitations/${invitations[0].id}/accept`;
  await client.insist({ kind: 'join', method: 'POST', path, bearer: session, expect: [200] });
  const key = await keys.createKey(team, session);
  for (const replica of client.replicas) await keys.use(key, false, replica);
  const [who, bearer] = Math.random() < 0.5 ? ['me', session] : [user, team.session];
  const leave = { kind: 'leave', method: 'DELETE', path: `${team.base}/members/${who}` } as const;
  await client.insist({ ...leave, bearer, expect: [200] }, [404]);
  keys.revoked.push(key);
  await keys.expectRejected(key);
  const look = { kind: 'read a team after leaving it', method: 'GET', path: team.base } as const;
  await client.send({ ...look, bearer: session, expect: [404] });
}

/** Runs a device login. Its key must be returned exactly once, work, and end with its revocation. */
export async function logIn(keys: KeyUser, owners: readonly Owner[]): Promise<void> {
  const owner = pick(owners)!;
  const { client } = keys;
  const name = `device-${++loginCount}`;
  const request = {
    kind: 'request a device code',
    method: 'POST',
    path: '/auth/device/code',
    expect: [200],
  } as const;
  const { device_code, user_code } = (await client.insist({ ...request, body: { name } })).body;
  const poll = createPoller(keys, device_code as string);
  if (Math.random() < PATIENT_SHARE) {
    expectType(keys, await poll([429]), ['authorization_pending', 'slow_down']);
    await pause(POLL_INTERVAL_MS);
  }
  const denied = Math.random() < DENIED_SHARE;
  const path = `/me/device-requests/${user_code}/${denied ? 'deny' : 'approve'}`;
  const body = denied ? undefined : { organization_id: owner.organizationId };
  const decide = { kind: denied ? 'deny' : 'approve', method: 'POST', path, body } as const;
  await client.insist({ ...decide, bearer: owner.session, expect: [200] }, [404]);
  if (denied) return expectType(keys, await poll([400]), ['access_denied']);
  const granted = await poll([200], [400]);
  expectType(keys, await poll([400]), ['expired_token']);
  if (granted.status === 200) await useOnce(keys, owner, name, granted.body.api_key as string);
}

async function useOnce(keys: KeyUser, owner: Owner, device: string, secret: string): Promise<void> {
  const key = { secret, owner };
  for (const replica of keys.client.replicas) await keys.use(key, false, replica);
  const list = { kind: 'list keys', method: 'GET', path: '/me/keys', bearer: owner.session } as const;
  const { body } = await keys.client.insist({ ...list, expect: [200] });
  const own = (body.keys as { id: number; device: { name: string } | null }[]).filter(
    (each) => each.device?.name === device,
  );
  keys.client.ledger.check('a login creates one key', own.length === 1, device);
  if (!own[0]) return;
  await keys.revoke({ ...key, id: own[0].id });
  await keys.expectRejected(key);
}

function createPoller(keys: KeyUser, device_code: string) {
  return (expect: readonly number[], afterwards?: readonly number[]): Promise<ApiResponse> =>
    keys.client.insist(
      { kind: 'poll', method: 'POST', path: '/auth/device/token', body: { device_code }, expect },
      afterwards,
    );
}

function expectType(keys: KeyUser, { body }: ApiResponse, types: readonly string[]): void {
  keys.client.ledger.check(
    'polls return the state of the login',
    types.includes(body.error.type as string),
    JSON.stringify(body),
  );
}
