import { customFetch, discovery, None, tokenIntrospection, tokenRevocation } from 'openid-client';
import type { Configuration } from 'openid-client';
import { KeyAuthenticator } from '../../src/keys/key-authenticator.js';
import { newKeySecret } from '../../src/keys/key-format.js';
import { startApp } from '../support/app.js';
import type { Agent, TestApp } from '../support/app.js';
import { join, personalOwner, teamOwner } from '../support/owners.js';
import type { TestOwner } from '../support/owners.js';
import { recordAll, usageRecord } from '../support/usage.js';

const PUBLIC_URL = 'https://mint.example.com';

let app: TestApp;
let owner: TestOwner;

interface NewKey {
  id: number;
  name: string;
  prefix: string;
  last4: string;
  api_key: string;
  created_at: string;
}

beforeAll(async () => {
  app = await startApp({ PUBLIC_URL });
  owner = await personalOwner(app);
});
afterAll(() => app.close());

const flat = (error: string) => ({ error, error_description: expect.any(String) });

async function mint(agent: Agent = owner.admin, path = '/me/keys', fields: object = {}): Promise<NewKey> {
  return (await agent.post(path).send(fields).expect(201)).body;
}

const revoke = (token: string) => app.anonymous.post('/oauth/revoke').type('form').send({ token });
const introspect = (token: string, fields: object = {}, credential = `Bearer ${token}`) =>
  app.anonymous
    .post('/oauth/introspect')
    .set('Authorization', credential)
    .type('form')
    .send({ token, ...fields });
const works = async (secret: string, replica = app) =>
  (await replica.app.get(KeyAuthenticator).authenticate(secret)) !== undefined;
const listed = async (agent: Agent, id: number) => {
  const { body } = await agent.get('/me/keys?include_revoked=true').expect(200);
  return body.keys.find((key: NewKey) => key.id === id);
};

describe('openid-client', () => {
  const clientWith = (headers: Record<string, string> = {}): Promise<Configuration> =>
    discovery(new URL(PUBLIC_URL), 'mint-cli', undefined, None(), {
      algorithm: 'oauth2',
      [customFetch]: (url, options) => {
        const all = { ...options.headers, ...headers };
        return fetch(url.replace(PUBLIC_URL, app.url), { ...options, headers: all });
      },
    });

  it('revokes a key', async () => {
    const { api_key, id } = await mint();
    expect(await works(api_key)).toBe(true);
    await tokenRevocation(await clientWith(), api_key, { token_type_hint: 'access_token' });
    expect(await works(api_key)).toBe(false);
    expect(await listed(owner.admin, id)).toMatchObject({ revoked_reason: 'revoked' });
  });

  it('introspects a key with the key as its credential', async () => {
    const { api_key, id } = await mint();
    const client = await clientWith({ authorization: `Bearer ${api_key}` });
    expect(await tokenIntrospection(client, api_key)).toMatchObject({ active: true, key: { id } });
    await expect(tokenIntrospection(await clientWith(), api_key)).rejects.toMatchObject({ status: 401 });
  });
});

describe('POST /oauth/revoke', () => {
  it('responds with 200 and an empty body, before which no replica serves the key', async () => {
    const other = await startApp({ PUBLIC_URL }, app);
    try {
      const { api_key } = await mint();
      expect(await works(api_key)).toBe(true);
      expect(await works(api_key, other)).toBe(true);
      const { text } = await revoke(api_key).expect(200).expect('Cache-Control', 'no-store');
      expect(text).toBe('');
      expect([await works(api_key), await works(api_key, other)]).toEqual([false, false]);
    } finally {
      await other.close();
    }
  });

  it('responds the same for keys that are revoked, unknown or no keys', async () => {
    const { api_key } = await mint();
    for (const token of [api_key, api_key, newKeySecret(), 'mk_', 'x'.repeat(10_000), '\0', 'ü'])
      expect((await revoke(token).expect(200)).text).toBe('');
  });

  it('writes the audit event of the holder, once', async () => {
    const team = await teamOwner(app);
    const member = await join(app, team, 'revoking-member', 'member');
    const { api_key, id } = await mint(member, `${team.base}/keys`);
    await Promise.all([revoke(api_key).expect(200), revoke(api_key).expect(200)]);
    await revoke(api_key).expect(200);
    expect(await listed(member, id)).toMatchObject({ revoked_reason: 'revoked' });
    const { body } = await team.admin.get(`${team.base}/audit`).expect(200);
    const events = body.events.filter(({ action }: { action: string }) => action === 'key.revoked');
    expect(events).toEqual([expect.objectContaining({ target: expect.objectContaining({ id }) })]);
    expect(events[0].actor).toMatchObject({ user_id: 'revoking-member' });
  });

  it('responds with 200 for keys of former members and of deleted organizations', async () => {
    const team = await teamOwner(app);
    const leaver = await join(app, team, 'key-leaver', 'member');
    const [ofLeaver, ofAdmin] = [
      await mint(leaver, `${team.base}/keys`),
      await mint(team.admin, `${team.base}/keys`),
    ];
    await leaver.delete(`${team.base}/members/me`).expect(200);
    await revoke(ofLeaver.api_key).expect(200);
    expect(await listed(leaver, ofLeaver.id)).toMatchObject({ revoked_reason: 'member_left' });
    await team.admin.delete(team.base).expect(200);
    await revoke(ofAdmin.api_key).expect(200);
    expect(await listed(team.admin, ofAdmin.id)).toMatchObject({ revoked_reason: 'organization_deleted' });
  });
});

describe('POST /oauth/introspect', () => {
  it('describes a personal key', async () => {
    const { api_key, id, prefix, last4, created_at } = await mint(owner.admin, '/me/keys', { name: 'box' });
    const { body } = await introspect(api_key).expect(200).expect('Cache-Control', 'no-store');
    expect(body).toEqual({
      active: true,
      username: `${owner.user}@example.com`,
      sub: owner.user,
      client_id: 'dashboard',
      token_type: 'Bearer',
      iat: Math.floor(Date.parse(created_at) / 1_000),
      key: { id, name: 'box', prefix, last4 },
      organization: { id: owner.organizationId, name: expect.any(String), kind: 'personal' },
      limits: { requests_per_minute: null, tokens_per_minute: null, budget: null, models: null },
      status: { requests_last_minute: 0, tokens_last_minute: 0, budget: null },
    });
  });

  it('describes a key of a team that expires', async () => {
    const team = await teamOwner(app);
    const expires_at = '2099-12-31T23:59:59.900Z';
    const { api_key } = await mint(team.admin, `${team.base}/keys`, { expires_at });
    const { body } = await introspect(api_key).expect(200);
    expect(body).toMatchObject({
      exp: Date.parse('2099-12-31T23:59:59Z') / 1_000,
      organization: { id: team.organizationId, name: 'Acme', kind: 'team' },
    });
  });

  it('reports the limits of the key and what it has used', async () => {
    const { api_key, id } = await mint();
    const set = { requests_per_minute: 60, budget: { usd: 5, period: 'total' }, models: ['gpt-*'] };
    const { body: limits } = await owner.admin.put(`/me/keys/${id}/limits`).send(set).expect(200);
    await recordAll(app, [
      usageRecord({ organization_id: owner.organizationId, user_id: owner.user, key_id: id, cost_usd: 1.5 }),
    ]);
    const { body } = await introspect(api_key).expect(200);
    expect(body.limits).toEqual(limits.limits);
    expect(body.status.budget).toMatchObject({ spent_usd: 1.5, remaining_usd: 3.5, is_exceeded: false });
  });

  it('does not count as a use of the key', async () => {
    const { api_key, id } = await mint();
    await introspect(api_key).expect(200);
    expect(await listed(owner.admin, id)).toMatchObject({ last_used_at: null });
  });

  it('rejects every other token in the same way', async () => {
    const [revoked, expired, other] = [await mint(), await mint(), await mint()];
    const { api_key } = await mint();
    await revoke(revoked.api_key).expect(200);
    await app.database.query(`UPDATE proxy_keys SET expires_at = now() WHERE id = $1`, [expired.id]);
    const team = await teamOwner(app);
    const leaver = await join(app, team, 'introspecting-leaver', 'member');
    const left = await mint(leaver, `${team.base}/keys`);
    await leaver.delete(`${team.base}/members/me`).expect(200);
    const requests = [
      introspect(revoked.api_key),
      introspect(expired.api_key),
      introspect(left.api_key),
      introspect(newKeySecret()),
      introspect('mk_'),
      introspect(api_key, {}, ''),
      introspect(api_key, {}, `Basic ${api_key}`),
      introspect(api_key, {}, `Bearer ${other.api_key}`),
      introspect(api_key, {}, `Bearer ${newKeySecret()}`),
      introspect(newKeySecret(), {}, `Bearer ${api_key}`),
    ];
    for (const request of requests) {
      const { body, headers } = await request.expect(401);
      expect(body).toEqual(flat('invalid_token'));
      expect(headers['www-authenticate']).toBe('Bearer error="invalid_token"');
    }
    await introspect(api_key).expect(200);
  });

  it('adds the usage of this key alone, by day and model', async () => {
    const [{ api_key, id }, other] = [await mint(), await mint()];
    const day = (age: number) => new Date(Date.now() - age * 24 * 3_600_000).toISOString();
    const of = (key_id: number, age: number, model: string) =>
      usageRecord({
        ...{ key_id, model, at: day(age) },
        ...{ user_id: owner.user, organization_id: owner.organizationId },
      });
    await recordAll(app, [
      ...[of(id, 0, 'gpt-4o'), of(id, 0, 'gpt-4o'), of(id, 1, 'gpt-5'), of(id, 2, 'gpt-5')],
      of(other.id, 0, 'gpt-4o'),
    ]);
    const { body } = await introspect(api_key, { usage_days: 2 }).expect(200);
    expect(body.usage).toMatchObject({ bucket: 'day', totals: { requests: 3, total_tokens: 45 } });
    expect(body.usage.buckets.map(({ groups }: { groups: object[] }) => groups)).toEqual([
      [expect.objectContaining({ model: 'gpt-5', requests: 1 })],
      [expect.objectContaining({ model: 'gpt-4o', requests: 2 })],
    ]);
    const ofMe = await owner.admin
      .get('/me/usage')
      .query({ bucket: 'day', group_by: 'model', key: id, from: body.usage.from, to: body.usage.to })
      .expect(200);
    expect(body.usage).toEqual(ofMe.body);
    expect((await introspect(api_key, { usage_days: 90 })).body.usage.buckets).toHaveLength(90);
    expect((await introspect(api_key)).body).not.toHaveProperty('usage');
  });

  it.each(['0', '91', '1.5', 'x', '-1'])('rejects usage_days=%s', async (usage_days) => {
    const { api_key } = await mint();
    const { body } = await introspect(api_key, { usage_days }).expect(400);
    expect(body).toEqual(flat('invalid_request'));
  });
});

describe.each(['/oauth/revoke', '/oauth/introspect'])('POST %s rejects', (path) => {
  it.each<[string, string]>([
    ['no parameters', ''],
    ['no token', 'token_type_hint=access_token'],
    ['an empty token', 'token='],
    ['a token twice', 'token=x&token=x'],
    ['JSON', '{"token": "x"}'],
    ['too many parameters', `token=x${'&a=1'.repeat(100)}`],
    ['too much', `token=${'x'.repeat(16_384)}`],
  ])('%s', async (_what, body) => {
    const response = await app.anonymous.post(path).type('form').send(body).expect(400);
    expect(response.body).toEqual(flat('invalid_request'));
  });

  it.each(['application/json', 'text/plain', 'multipart/form-data'])('the content type %s', async (type) => {
    const response = await app.anonymous.post(path).set('Content-Type', type).send('token=x').expect(400);
    expect(response.body).toEqual(flat('invalid_request'));
  });

  it('other methods', async () => {
    await app.anonymous.get(path).expect(405).expect('Allow', 'POST');
  });
});
