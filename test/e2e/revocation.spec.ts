import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { createInterface } from 'node:readline';
import supertest from 'supertest';
import { tokenHash } from '../../src/common/crypto/secret-token.js';
import { newKeySecret } from '../../src/keys/key-format.js';
import { testVariables } from '../support/app.js';
import { createDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { inParallel, tally } from '../support/parallel.js';
import { sessionFor } from '../support/sessions.js';
import { withinWindow } from '../support/within-window.js';

/** Time until a key of a test expires. */
const LIFETIME_MS = 2_000;

interface Replica {
  readonly process: ChildProcess;
  /** `http://127.0.0.1:port` of the REST API */
  readonly api: string;
  /** Returns the key of a secret; undefined if the secret is rejected. */
  whose(secret: string): Promise<{ status: number; id: string }>;
}

let database: TestDatabase;
let dataDir: string;
let replicas: Replica[];

async function startReplica(variables: NodeJS.ProcessEnv = {}): Promise<Replica> {
  const script = joinPath(import.meta.dirname, '../support/authenticating-replica.mjs');
  const child = spawn(process.execPath, [script], {
    env: { ...process.env, ...testVariables(database.url, dataDir), ...variables },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const ports = JSON.parse(line) as { api: number; keys: number };
  return {
    process: child,
    api: `http://127.0.0.1:${ports.api}`,
    whose: async (secret) => {
      const response = await fetch(`http://127.0.0.1:${ports.keys}`, { headers: { authorization: secret } });
      return { status: response.status, id: await response.text() };
    },
  };
}

function isRunning({ process: { exitCode, signalCode } }: Replica): boolean {
  return exitCode === null && signalCode === null;
}

async function stop(replica: Replica): Promise<void> {
  if (!isRunning(replica)) return;
  const { process: child } = replica;
  child.kill('SIGCONT');
  child.kill('SIGTERM');
  await once(child, 'exit');
}

beforeAll(async () => {
  database = await createDatabase();
  dataDir = await mkdtemp(joinPath(tmpdir(), 'mintkeep-replicas-'));
  replicas = await inParallel(2, () => startReplica());
});
/** A test may have killed one. */
beforeEach(async () => {
  replicas = await Promise.all(
    replicas.map(async (replica) => (isRunning(replica) ? replica : startReplica())),
  );
});
afterAll(async () => {
  await Promise.all(replicas.map(stop));
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

async function agentOf(user: string, replica = replicas[0]!) {
  return supertest.agent(replica.api).set('Authorization', `Bearer ${await sessionFor(user)}`);
}

/** Asks all replicas until told to stop; returns the ids that were served. */
function keepAsking(secret: string) {
  let asking = true;
  const loops = replicas.map(async (replica) => {
    while (asking) await replica.whose(secret);
  });
  return async () => {
    asking = false;
    await Promise.all(loops);
  };
}

it('no replica serves a key after the response to its revocation', async () => {
  const agents = [await agentOf('ann', replicas[0]), await agentOf('ann', replicas[1])];
  const servedAfterwards: string[] = [];
  await inParallel(8, async (worker) => {
    for (let round = 0; round < 40; round++) {
      const { body: key } = await agents[round % 2]!.post('/me/keys').expect(201);
      for (const replica of replicas)
        expect(await replica.whose(key.api_key)).toEqual({ status: 200, id: String(key.id) });
      const stopAsking = round % 10 === worker % 10 ? keepAsking(key.api_key) : undefined;
      await agents[(round + worker) % 2]!.delete(`/me/keys/${key.id}`).expect(204);
      const answers = await Promise.all(
        replicas.flatMap((replica) => [replica.whose(key.api_key), replica.whose(key.api_key)]),
      );
      servedAfterwards.push(...answers.filter(({ status }) => status !== 401).map(({ id }) => id));
      await stopAsking?.();
    }
  });
  expect(servedAfterwards).toEqual([]);
}, 600_000);

/** Keys of a user as minting makes them, many at once. */
async function mintMany(count: number, userId: string, organizationId: number): Promise<string[]> {
  const secrets = Array.from({ length: count }, newKeySecret);
  await database.query(
    `INSERT INTO proxy_keys (organization_id, user_id, name, secret_sha256, prefix, last4, source)
     SELECT $1, $2, 'k', decode(sha, 'hex'), 'mk_', '', 'dashboard' FROM unnest($3::text[]) AS sha`,
    [organizationId, userId, secrets.map((secret) => tokenHash(secret).toString('hex'))],
  );
  return secrets;
}

it('no replica serves the keys of removed members', async () => {
  const ann = await agentOf('ann');
  const bob = await agentOf('bob', replicas[1]);
  const { body: team } = await ann
    .post('/me/organizations')
    .send({ name: 'Team', slug: 'thousands' })
    .expect(201);
  const base = `/me/organizations/${team.id}`;
  const askAll = (secrets: string[]) =>
    Promise.all(
      secrets.flatMap((secret) => replicas.map(async (replica) => (await replica.whose(secret)).status)),
    );
  for (let round = 0; round < 12; round++) {
    const { body: invitation } = await ann
      .post(`${base}/invite`)
      .send({ email: 'bob@example.com', role: 'member' });
    await bob.post('/me/invitations/accept').send({ token: invitation.token }).expect(200);
    const secrets = await mintMany(100, 'bob', team.id);
    expect(tally(await askAll(secrets))).toEqual({ 200: 200 });
    const { body } = await (
      round % 2 ? ann.delete(`${base}/members/bob`) : bob.delete(`${base}/members/me`)
    ).expect(200);
    expect(body.revoked_keys).toBe(100);
    expect(tally(await askAll(secrets))).toEqual({ 401: 200 });
  }
});

it('removal of a member, leaving and deletion of the organization revoke keys on all replicas at once', async () => {
  const ann = await agentOf('ann');
  for (let round = 0; round < 12; round++) {
    const slug = `team-${round}`;
    const { body: team } = await ann.post('/me/organizations').send({ name: 'Team', slug }).expect(201);
    const base = `/me/organizations/${team.id}`;
    const bob = await agentOf('bob', replicas[1]);
    const { body: invitation } = await ann
      .post(`${base}/invite`)
      .send({ email: 'bob@example.com', role: 'member' });
    await bob.post('/me/invitations/accept').send({ token: invitation.token }).expect(200);
    const { body: key } = await bob.post(`${base}/keys`).expect(201);
    for (const replica of replicas) expect((await replica.whose(key.api_key)).status).toBe(200);
    if (round % 3 === 0) await ann.delete(`${base}/members/bob`).expect(200);
    else if (round % 3 === 1) await bob.delete(`${base}/members/me`).expect(200);
    else await ann.delete(base).expect(200);
    for (const replica of replicas) expect((await replica.whose(key.api_key)).status).toBe(401);
  }
});

it('a replica that does not respond delays a revocation for at most its lease, and serves no stale key afterwards', async () => {
  const ann = await agentOf('ann');
  const { body: key } = await ann.post('/me/keys').expect(201);
  for (const replica of replicas) expect((await replica.whose(key.api_key)).status).toBe(200);
  replicas[1]!.process.kill('SIGSTOP');
  const before = performance.now();
  await ann.delete(`/me/keys/${key.id}`).expect(204);
  expect(performance.now() - before).toBeLessThan(60_000); // it would wait for the replica for ever
  const pending = replicas[1]!.whose(key.api_key);
  replicas[1]!.process.kill('SIGCONT');
  expect((await pending).status).toBe(401);
});

it('revocations stop waiting for a killed replica', async () => {
  const ann = await agentOf('ann');
  replicas[1]!.process.kill('SIGKILL');
  await once(replicas[1]!.process, 'exit');
  const { body: key } = await ann.post('/me/keys').expect(201);
  await ann.delete(`/me/keys/${key.id}`).expect(204);
  expect((await replicas[0]!.whose(key.api_key)).status).toBe(401);
});

it('a replica queries the database for every request while its listening connection is down', async () => {
  const ann = await agentOf('ann');
  for (let round = 0; round < 2; round++) {
    const { body: key } = await ann.post('/me/keys').expect(201);
    for (const replica of replicas) expect((await replica.whose(key.api_key)).status).toBe(200);
    await database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'mintkeep-replica' AND datname = current_database()`,
    );
    await ann.delete(`/me/keys/${key.id}`).expect(204);
    for (const replica of replicas) expect((await replica.whose(key.api_key)).status).toBe(401);
  }
});

it('ignores foreign notifications', async () => {
  for (const payload of ['x', '', 'null', '{"id":"a"}', '{"id":"a","invalidation":{}}'])
    await database.query(`NOTIFY mintkeep_invalidations, '${payload}'`);
  const agent = await agentOf('ned');
  const { body: key } = await agent.post('/me/keys').expect(201);
  for (const replica of replicas) expect((await replica.whose(key.api_key)).status).toBe(200);
  await agent.delete(`/me/keys/${key.id}`).expect(204);
  for (const replica of replicas) expect((await replica.whose(key.api_key)).status).toBe(401);
  expect(replicas.every(isRunning)).toBe(true);
});

it('an expired key, an unknown one and one with a wrong checksum get the same response', async () => {
  const ann = await agentOf('ann');
  let expired = '';
  await withinWindow(LIFETIME_MS, async () => {
    const expires_at = new Date(Date.now() + LIFETIME_MS).toISOString();
    const { body: key } = await ann.post('/me/keys').send({ expires_at }).expect(201);
    expired = key.api_key as string;
    expect((await replicas[0]!.whose(expired)).status).toBe(200);
  });
  await eventually(async () => expect((await replicas[0]!.whose(expired)).status).toBe(401));
  for (const secret of ['', 'x', `${expired}x`, expired.replace(/.$/, '~')]) {
    expect((await replicas[0]!.whose(secret)).status).toBe(401);
  }
});

it('writes the time of last use', async () => {
  const ann = await agentOf('ann');
  const { body: key } = await ann.post('/me/keys').expect(201);
  await replicas[1]!.whose(key.api_key);
  await eventually(async () => {
    const { keys } = (await ann.get('/me/keys')).body;
    expect(keys.find(({ id }: { id: number }) => id === key.id).last_used_at).not.toBeNull();
  });
});
