import { startApp } from '../support/app.js';
import type { Agent, TestApp } from '../support/app.js';
import { beginLogin, decide, KEY, poll, TestBrowser } from '../support/device-flow.js';
import { fillKeys, fillUsers } from '../support/fill.js';
import { join, personalOwner, teamOwner } from '../support/owners.js';
import type { TestOwner } from '../support/owners.js';
import { inParallel, tally } from '../support/parallel.js';
import { plansOf } from '../support/plans.js';

const RACERS = 12;
/** Keys of organizations that were deleted, say: a key outlives its organization. */
const ELSEWHERE = 900_000_000;

let app: TestApp;
/** Half of what happens at once happens here. */
let replica: TestApp;

beforeAll(async () => {
  app = await startApp();
  replica = await startApp({}, app);
});
afterAll(async () => {
  await replica.close();
  await app.close();
});

const outcome = ({ status, body }: { status: number; body: { error?: { type?: string } } }) =>
  body.error?.type ?? status;

type Listed = { id: number; name: string }[];

async function list(agent: Agent, url: string, includeRevoked = false): Promise<Listed> {
  const query = includeRevoked ? '?include_revoked=true' : '';
  return (await agent.get(url + query).expect(200)).body.keys;
}

/** Mints keys in parallel on both replicas and at both addresses. */
async function race({ base, user, organizationId }: TestOwner): Promise<Record<string, number>> {
  const agents = [await app.as(user), await replica.as(user)];
  const answers = await inParallel(RACERS, (i) => {
    const agent = agents[i % 2]!;
    return base === '/me' || i % 4 < 2
      ? agent.post('/me/keys').send({ organization_id: organizationId })
      : agent.post(`${base}/keys`);
  });
  return tally(answers.map(outcome));
}

describe.each([
  ['a user in the personal organization', personalOwner],
  ['a user in a team', teamOwner],
])('%s', (_who, makeOwner) => {
  it('can have at most 1,000 live keys, also with parallel requests', async () => {
    const owner = await makeOwner(app);
    const { organizationId, user, admin } = owner;
    for (const state of ['revoked', 'expired'] as const)
      await fillKeys(app, { organizationId, user, count: 1_500, state });
    await fillKeys(app, { organizationId, user, count: 999 });
    for (let round = 0; round < 3; round++) {
      expect(await race(owner)).toEqual({ 201: 1, too_many_keys: RACERS - 1 });
      const keys = (await list(admin, '/me/keys')).filter(({ name }) => !name.startsWith('expired'));
      expect(keys).toHaveLength(1_000);
      await admin.delete(`/me/keys/${keys.at(-1)!.id}`).expect(204);
    }
    const soon = new Date(Date.now() + 3_600_000).toISOString();
    const { body: key } = await admin
      .post('/me/keys')
      .send({ organization_id: organizationId, expires_at: soon });
    expect(await race(owner)).toEqual({ too_many_keys: RACERS });
    await app.database.query('UPDATE proxy_keys SET expires_at = now() WHERE id = $1', [key.id]);
    expect(await race(owner)).toEqual({ 201: 1, too_many_keys: RACERS - 1 });
  });

  it('can have at most 2,000 live keys in total, also with parallel requests', async () => {
    const owner = await makeOwner(app);
    const { user, admin } = owner;
    for (const [i, count] of [1_000, 999].entries())
      await fillKeys(app, { organizationId: ELSEWHERE + i, user, count });
    expect(await race(owner)).toEqual({ 201: 1, too_many_keys: RACERS - 1 });
    const keys = await list(admin, '/me/keys');
    expect(keys).toHaveLength(2_000);
    await admin.delete(`/me/keys/${keys.at(-1)!.id}`).expect(204);
    expect(await race(owner)).toEqual({ 201: 1, too_many_keys: RACERS - 1 });
  });
});

it('enforces the total cap of a user across organizations in parallel', async () => {
  const [one, other] = [await teamOwner(app), await teamOwner(app)];
  const { user } = one;
  await join(app, other, user, 'member');
  for (const [i, count] of [1_000, 999].entries())
    await fillKeys(app, { organizationId: ELSEWHERE + i, user, count });
  const agents = [await app.as(user), await replica.as(user)];
  const bases = [one.base, other.base, '/me'];
  const answers = await inParallel(RACERS, (i) => agents[i % 2]!.post(`${bases[i % 3]!}/keys`));
  expect(tally(answers.map(outcome))).toEqual({ 201: 1, too_many_keys: RACERS - 1 });
});

it('limits an organization to 10,000 live keys, also with parallel requests', async () => {
  const team = await teamOwner(app);
  const { organizationId, admin } = team;
  await fillUsers(app, 9_999);
  await fillKeys(app, { organizationId, user: 'crowd', count: 9_999 });
  const members = await inParallel(RACERS, (i) => join(app, team, `member-of-many-${i}`, 'member'));
  const answers = await Promise.all(members.map((agent) => agent.post(`${team.base}/keys`)));
  expect(tally(answers.map(outcome))).toEqual({ 201: 1, too_many_keys: RACERS - 1 });
  const keys = await list(admin, `${team.base}/keys`);
  expect(keys).toHaveLength(10_000);
  await admin.delete(`${team.base}/keys/${keys[0]!.id}`).expect(204);
  await admin.post(`${team.base}/keys`).expect(201);
});

it('reports too many keys after a missing organization and invalid fields', async () => {
  const { organizationId, user, admin } = await personalOwner(app);
  await fillKeys(app, { organizationId, user, count: 1_000 });
  const { body } = await admin.post('/me/keys').expect(409);
  expect(body).toEqual({
    error: {
      type: 'too_many_keys',
      message: 'a user can have at most 1000 live keys in one organization: revoke one first',
    },
  });
  await admin.post('/me/keys').send({ organization_id: ELSEWHERE }).expect(404);
  expect(outcome(await admin.post('/me/keys').send({ name: '' }))).toBe('invalid_name');
  expect((await admin.get('/me/keys').expect(200)).body.keys).toHaveLength(1_000);
});

describe('a list of 200,000 keys', () => {
  let team: TestOwner;
  const named = (state: string, from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, i) => `${state} ${from + i}`);

  beforeAll(async () => {
    team = await teamOwner(app);
    const { organizationId, user } = team;
    await fillKeys(app, { organizationId, user, count: 100_000, state: 'revoked' });
    await fillKeys(app, { organizationId, user, count: 99_000, state: 'expired' });
    await fillKeys(app, { organizationId, user, count: 1_000 });
    await app.database.query('VACUUM ANALYZE proxy_keys');
  }, 120_000);

  it.each(['person', 'admin', 'member'])(
    'shows a %s the keys that live, expired last and were revoked last',
    async (who) => {
      const { base, admin, user } = team;
      const isMember = who === 'member';
      await app.database.query(
        'UPDATE memberships SET role = $3 WHERE organization_id = $1 AND user_id = $2',
        [...[team.organizationId, user, isMember ? 'member' : 'admin']],
      );
      const url = who === 'person' ? '/me/keys' : `${base}/keys`;
      const names = async (includeRevoked: boolean) =>
        (await list(admin, url, includeRevoked)).map(({ name }) => name);
      const known = [...named('expired', 98_001, 99_000), ...named('live', 1, 1_000)];
      expect(await names(false)).toEqual(known);
      expect(await names(true)).toEqual([...named('revoked', 99_001, 100_000), ...known]);
      const { text } = await admin.get(`${url}?include_revoked=true`).expect(200);
      expect(text.length).toBeLessThan(3 * 1024 * 1024);
    },
  );

  it('reads only the keys that it shows, and a cap only those that it counts, in one statement each', async () => {
    const { admin, base } = team;
    await admin.delete(`/me/keys/${(await list(admin, '/me/keys')).at(-1)!.id}`).expect(204);
    for (const [url, query] of [
      ['/me/keys', ''],
      [`${base}/keys`, '?include_revoked=true'],
    ]) {
      const plans = await plansOf(app, () => admin.get(url! + query!).expect(200));
      const [plan, ...others] = plans.filter((text) => text.includes('proxy_keys'));
      expect(others).toEqual([]);
      expect(plan).not.toMatch(/Seq Scan on proxy_keys|proxy_keys_pkey/);
    }
    const plans = await plansOf(app, () => admin.post(`${base}/keys`).expect(201));
    const counts = plans.filter((plan) => plan.includes('InitPlan'));
    expect(counts).toHaveLength(1);
    expect(counts[0]).toMatch(/Index (?:Only )?Scan(?: Backward)? using proxy_keys_\w+_expires_at_idx/);
    expect(counts[0]).not.toMatch(/Seq Scan/);
  });
});

describe('a device flow at the cap of keys', () => {
  /** A user with room for one key. */
  async function almostFull(): Promise<TestOwner> {
    const person = await personalOwner(app);
    const { organizationId, user } = person;
    await fillKeys(app, { organizationId, user, count: 999 });
    return person;
  }

  /** Takes the last room, until it is called again. */
  async function takeRoom({ admin }: TestOwner): Promise<() => Promise<unknown>> {
    const { body } = await admin.post('/me/keys').expect(201);
    return () => admin.delete(`/me/keys/${body.id}`).expect(204);
  }

  it('cannot be approved by the dashboard until there is room', async () => {
    const person = await almostFull();
    const leave = await takeRoom(person);
    const { user_code, device_code } = await beginLogin(app);
    const { body } = await decide(person.admin, user_code, 'approve').expect(409);
    expect(body).toEqual({ error: { type: 'too_many_keys', message: expect.any(String) } });
    expect(await poll(app, device_code)).toBe('429 authorization_pending');
    await leave();
    await decide(person.admin, user_code, 'approve').expect(200);
    expect(await poll(app, device_code)).toMatch(KEY);
  });

  it('cannot be approved on the page, which gives the reason, but can be denied', async () => {
    const person = await almostFull();
    await takeRoom(person);
    const { user_code, device_code } = await beginLogin(app);
    const browser = await TestBrowser.of(app, person.user);
    const fields = { user_code, csrf_token: await browser.csrfToken(user_code) };
    const { text } = await browser.submit('approve', fields).expect(409).expect('Content-Type', /html/);
    expect(text).toContain('a user can have at most 1000 live keys in one organization');
    expect(text).toContain('Nothing was approved');
    expect(text).toContain('too_many_keys');
    expect(await poll(app, device_code)).toBe('429 authorization_pending');
    await browser.submit('deny', fields).expect(200);
    expect(await poll(app, device_code)).toBe('400 access_denied');
  });

  it('checks the cap of the chosen organization', async () => {
    const person = await almostFull();
    await takeRoom(person);
    const team = await teamOwner(app);
    await join(app, team, person.user, 'member');
    const { user_code, device_code } = await beginLogin(app);
    const pool = { organization_id: team.organizationId };
    await decide(person.admin, user_code, 'approve', pool).expect(200);
    expect(await poll(app, device_code)).toMatch(KEY);
  });

  it('reports an unknown code or organization first', async () => {
    const person = await almostFull();
    await takeRoom(person);
    const { user_code } = await beginLogin(app);
    expect(outcome(await decide(person.admin, 'BBBB-BBBB', 'approve'))).toBe('invalid_user_code');
    await decide(person.admin, user_code, 'approve', { organization_id: ELSEWHERE }).expect(404);
  });

  it('is denied when the cap is reached between approval and collection', async () => {
    const person = await almostFull();
    const [one, other] = [await beginLogin(app), await beginLogin(app)];
    for (const { user_code } of [one, other]) await decide(person.admin, user_code, 'approve').expect(200);
    const leave = await takeRoom(person);
    expect(await poll(app, one.device_code)).toBe('400 access_denied');
    const grant = 'urn:ietf:params:oauth:grant-type:device_code';
    const { status, body } = await app.anonymous
      .post('/oauth/token')
      .type('form')
      .send({ grant_type: grant, device_code: other.device_code });
    expect([status, body]).toEqual([400, { error: 'access_denied', error_description: expect.any(String) }]);
    expect(await list(person.admin, '/me/keys')).toHaveLength(1_000);
    await leave();
    expect(await poll(app, one.device_code)).toBe('400 access_denied');
  });

  it('gives a key to one of several devices that collect in parallel', async () => {
    const person = await almostFull();
    const logins = await inParallel(RACERS, () => beginLogin(app));
    for (const { user_code } of logins) await decide(person.admin, user_code, 'approve').expect(200);
    const answers = await inParallel(RACERS, (i) => poll(i % 2 ? app : replica, logins[i]!.device_code));
    const outcomes = answers.map((answer) => (KEY.test(answer) ? 'key' : answer));
    expect(tally(outcomes)).toEqual({ key: 1, '400 access_denied': RACERS - 1 });
    expect(await list(person.admin, '/me/keys')).toHaveLength(1_000);
  });
});
