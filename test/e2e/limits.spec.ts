import { jest } from '@jest/globals';
import { LimitEnforcer } from '../../src/limits/limit-enforcer.js';
import { RequestBuckets } from '../../src/limits/requests/request-buckets.js';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { join, personalOwner, teamOwner } from '../support/owners.js';
import { inParallel, tally } from '../support/parallel.js';
import { call, fillPool, mintKey } from '../support/proxy-client.js';
import type { Call, Reply } from '../support/proxy-client.js';
import { respondWith, startRawUpstream } from '../support/raw-upstream.js';
import type { RawUpstream } from '../support/raw-upstream.js';
import { readMetrics } from '../support/metrics.js';
import { callRecorded } from '../support/recorded.js';
import { recordAll, usageRecord } from '../support/usage.js';

const NONE = { requests_per_minute: null, tokens_per_minute: null, budget: null, models: null };
const LIMITS = {
  ...NONE,
  requests_per_minute: 1_000,
  budget: { usd: 0.5, period: 'week' },
  models: ['gpt-*'],
};

let app: TestApp;
let upstream: RawUpstream;

beforeAll(async () => {
  app = await startApp({ UPSTREAM_PRIVATE_NETWORKS: 'allow' });
  upstream = await startRawUpstream(respondWith('{}'));
});
afterAll(async () => {
  await app.close();
  await upstream.close();
});
beforeEach(() => (upstream.respond = respondWith('{}', { headers: 'X-RateLimit-Limit-Requests: 77\r\n' })));

const A_CALL: Call = { body: '{"model":"m"}' };
const errorOf = ({ text }: Reply) => (JSON.parse(text) as { error: Record<string, unknown> }).error;
const usage = (tokens: number) =>
  respondWith(JSON.stringify({ usage: { prompt_tokens: tokens, completion_tokens: 0 } }));

/** A person with an upstream, and a key with limits. */
async function limited(limits: object, level: 'key' | 'organization' | 'member' = 'key') {
  const owner = await personalOwner(app);
  await fillPool(owner, { url: upstream.url, provider: 'openai' });
  if (level !== 'key')
    await owner.admin
      .put('/me/limits')
      .send({ [level]: limits })
      .expect(200);
  const body = level === 'key' ? { limits } : {};
  const { body: key } = await owner.admin.post('/me/keys').send(body).expect(201);
  return { owner, id: key.id as number, key: key.api_key as string };
}

describe('the limit of requests', () => {
  it.each(['key', 'organization', 'member'] as const)(
    'admits a minute at once at the level %s',
    async (level) => {
      const { owner, key } = await limited({ requests_per_minute: 5 }, level);
      const replies = await inParallel(12, () => call(app, key, A_CALL));
      expect(tally(replies.map(({ status }) => status))).toEqual({ 200: 5, 429: 7 });
      const rejected = replies.find(({ status }) => status === 429)!;
      expect(errorOf(rejected)).toEqual({
        ...{ type: 'rate_limit_error', code: 'rate_limited', param: null },
        message: expect.stringContaining('requests_per_minute'),
      });
      expect(Number(rejected.headers['retry-after'])).toBeGreaterThanOrEqual(1);
      expect(rejected.headers).not.toHaveProperty('x-should-retry');
      expect(rejected.headers).toMatchObject({
        'x-ratelimit-limit-requests': '5',
        'x-ratelimit-remaining-requests': '0',
      });
      const { record } = await callRecorded(app, owner, key, A_CALL);
      expect(record).toMatchObject({ status: 429, outcome: 'client_error', attempts: [], cost_usd: 0 });
    },
  );

  it('is told by headers, which replace those of the upstream', async () => {
    const { key } = await limited({ requests_per_minute: 3 });
    const headers = [];
    for (let i = 0; i < 3; i++) headers.push((await call(app, key, A_CALL)).headers);
    expect(headers.map((each) => each['x-ratelimit-remaining-requests'])).toEqual(['2', '1', '0']);
    expect(headers[0]).toMatchObject({ 'x-ratelimit-limit-requests': '3' });
    expect(headers[2]!['x-ratelimit-reset-requests']).toMatch(/^(?:\d+m)?\d+m?s$/);
    expect(headers[0]).not.toHaveProperty('x-ratelimit-limit-tokens');
  });

  it('is that of the upstream in the headers if the key has none', async () => {
    const { key } = await limited({ tokens_per_minute: 1_000 });
    expect((await call(app, key, A_CALL)).headers).toMatchObject({
      ...{ 'x-ratelimit-limit-requests': '77', 'x-ratelimit-limit-tokens': '1000' },
      'x-ratelimit-remaining-tokens': '1000',
    });
  });

  it('is not used up by requests that are rejected', async () => {
    const { key } = await limited({ requests_per_minute: 2, models: ['m'] });
    for (let i = 0; i < 5; i++) {
      const { status, headers } = await call(app, key, { body: '{"model":"x"}' });
      expect([status, headers['x-ratelimit-remaining-requests']]).toEqual([403, '2']);
    }
    for (let i = 0; i < 2; i++) expect((await call(app, key, A_CALL)).status).toBe(200);
  });

  it('is that of the strictest level', async () => {
    const { owner, key, id } = await limited({ requests_per_minute: 100 });
    await owner.admin
      .put('/me/limits')
      .send({ organization: { requests_per_minute: 3 } })
      .expect(200);
    const replies = await inParallel(10, () => call(app, key, A_CALL));
    expect(tally(replies.map(({ status }) => status))).toEqual({ 200: 3, 429: 7 });
    expect(errorOf(replies.find(({ status }) => status === 429)!).message).toContain('organization');
    await owner.admin.put('/me/limits').send({}).expect(200);
    await owner.admin.put(`/me/keys/${id}/limits`).send({}).expect(200);
    expect((await call(app, key, A_CALL)).status).toBe(200);
  });

  it.each([
    [1, 1_000],
    [2, 100],
  ])('applies at once when it is raised from %d to %d', async (from, to) => {
    const { owner, key, id } = await limited({ requests_per_minute: from });
    const statuses = await inParallel(from + 1, async () => (await call(app, key, A_CALL)).status);
    expect(tally(statuses)).toEqual({ 200: from, 429: 1 });
    await owner.admin.put(`/me/keys/${id}/limits`).send({ requests_per_minute: to }).expect(200);
    await eventually(async () => expect((await call(app, key, A_CALL)).status).toBe(200), 15_000);
  });

  it('counts all keys of an organization together', async () => {
    const { owner, key } = await limited({ requests_per_minute: 4 }, 'organization');
    const other = await mintKey(owner);
    const replies = await inParallel(12, (i) => call(app, i % 2 ? key : other, A_CALL));
    expect(tally(replies.map(({ status }) => status))).toEqual({ 200: 4, 429: 8 });
  });

  it('costs no statement per request', async () => {
    const { key } = await limited({ requests_per_minute: 60_000 });
    await call(app, key, A_CALL);
    const statements = jest.spyOn(app.app.get(RequestBuckets, { strict: false }), 'take');
    await eventually(async () => {
      statements.mockClear();
      await inParallel(20, () => call(app, key, A_CALL));
      expect(statements).not.toHaveBeenCalled();
    });
    statements.mockRestore();
  });
});

describe('the limit of tokens', () => {
  it('rejects once the tokens of the last minute reach it', async () => {
    const { owner, key } = await limited({ tokens_per_minute: 100 });
    upstream.respond = usage(60);
    const beganAt = performance.now();
    const first = await callRecorded(app, owner, key, A_CALL);
    const second = await callRecorded(app, owner, key, A_CALL);
    expect([first, second].map(({ reply }) => reply.status)).toEqual([200, 200]);
    expect(second.reply.headers['x-ratelimit-remaining-tokens']).toBe('40');
    const third = await call(app, key, A_CALL);
    expect([third.status, errorOf(third).code]).toEqual([429, 'rate_limited']);
    expect(errorOf(third).message).toContain('tokens_per_minute');
    expect(third.headers).toMatchObject({ 'x-ratelimit-remaining-tokens': '0' });
    const elapsedSeconds = (performance.now() - beganAt) / 1_000;
    expect(Number(third.headers['retry-after'])).toBeGreaterThan(57 - elapsedSeconds);
  });

  it('does not count requests that ended more than a minute ago', async () => {
    const { owner, id, key } = await limited({ tokens_per_minute: 100 });
    const fields = {
      organization_id: owner.organizationId,
      user_id: owner.user,
      key_id: id,
      total_tokens: 100,
    };
    await recordAll(app, [
      usageRecord({ ...fields, at: new Date(Date.now() - 62_000).toISOString(), latency_ms: 0 }),
    ]);
    expect((await call(app, key, A_CALL)).status).toBe(200);
    await recordAll(app, [
      usageRecord({ ...fields, at: new Date(Date.now() - 62_000).toISOString(), latency_ms: 60_000 }),
    ]);
    await eventually(async () => expect((await call(app, key, A_CALL)).status).toBe(429));
    const { body } = await owner.admin.get(`/me/keys/${id}/limits`).expect(200);
    expect(body.status.tokens_last_minute).toBe(100);
  });
});

describe('the budget', () => {
  it.each(['day', 'week', 'month', 'total'] as const)(
    'rejects requests once it is spent for the %s',
    async (period) => {
      const { owner, id, key } = await limited({ budget: { usd: 1, period } });
      await owner.admin
        .put('/me/prices')
        .send({ prices: [{ model: '*', input: 0.6, output: 0 }] })
        .expect(200);
      upstream.respond = usage(1_000_000);
      for (let i = 0; i < 2; i++)
        expect((await callRecorded(app, owner, key, A_CALL)).reply.status).toBe(200);
      const calledAt = Date.now();
      const reply = await call(app, key, A_CALL);
      const repliedAt = Date.now();
      expect([reply.status, errorOf(reply).code]).toEqual([429, 'budget_exceeded']);
      expect(reply.headers['x-should-retry']).toBe('false');
      expect(reply.headers).not.toHaveProperty('x-ratelimit-limit-requests');
      const { body } = await owner.admin.get(`/me/keys/${id}/limits`).expect(200);
      const { period_start: start, period_end: end } = body.status.budget;
      expect(body.status.budget).toMatchObject({ spent_usd: 1.2, remaining_usd: 0, is_exceeded: true });
      expect(body.status).toMatchObject({ requests_last_minute: 2, tokens_last_minute: 2_000_000 });
      if (period === 'total') {
        expect([start, end, reply.headers['retry-after']]).toEqual([null, null, undefined]);
        return;
      }
      expect(start <= new Date().toISOString() && new Date().toISOString() < end).toBe(true);
      const retryAfter = Number(reply.headers['retry-after']);
      expect(retryAfter).toBeGreaterThanOrEqual((Date.parse(end) - repliedAt) / 1_000 - 1);
      expect(retryAfter).toBeLessThanOrEqual((Date.parse(end) - calledAt) / 1_000 + 1);
    },
  );

  it('does not count what is unpriced, and what was spent before the period', async () => {
    const { owner, id, key } = await limited({ budget: { usd: 1, period: 'day' } });
    const fields = { organization_id: owner.organizationId, user_id: owner.user, key_id: id };
    const yesterday = new Date(Date.now() - 86_400_000).toISOString();
    await recordAll(app, [
      usageRecord({ ...fields, at: yesterday, cost_usd: 5 }),
      usageRecord({ ...fields, cost_usd: null }),
      usageRecord({ ...fields, cost_usd: 0.9999 }),
    ]);
    const { body } = await owner.admin.get(`/me/keys/${id}/limits`).expect(200);
    expect(body.status.budget).toMatchObject({
      spent_usd: 0.9999,
      remaining_usd: 0.0001,
      is_exceeded: false,
    });
    expect((await call(app, key, A_CALL)).status).toBe(200);
  });

  it('leaves a notice at 80 and 100 percent of an organization, once for each period', async () => {
    const { owner, key } = await limited({ budget: { usd: 10, period: 'month' } }, 'organization');
    const spend = (cost_usd: number) =>
      recordAll(app, [usageRecord({ organization_id: owner.organizationId, user_id: owner.user, cost_usd })]);
    const notices = async () => {
      const { body } = await owner.admin.get(`/me/organizations/${owner.organizationId}/audit`).expect(200);
      return (body.events as { action: string; details: object }[])
        .filter(({ action }) => action === 'budget.reached')
        .map(({ details }) => details);
    };
    await spend(7.9);
    expect((await call(app, key, A_CALL)).status).toBe(200);
    await spend(0.1);
    await eventually(async () => {
      await call(app, key, A_CALL); // the sums are read while there are requests
      expect(await notices()).toEqual([{ share: 80 }]);
    });
    await owner.admin
      .put('/me/limits')
      .send({ organization: { budget: { usd: 9, period: 'month' } } })
      .expect(200);
    await spend(5);
    await eventually(async () => {
      await call(app, key, A_CALL);
      expect(await notices()).toEqual([{ share: 100 }, { share: 80 }]);
    });
  });
});

describe('the limit of models', () => {
  it('rejects other models, and requests that cannot be checked', async () => {
    const { owner, key } = await limited({ models: ['gpt-*', 'm'] });
    const send = (options: Call) => call(app, key, options);
    expect((await send(A_CALL)).status).toBe(200);
    expect((await send({ body: '{"model":"gpt-5"}' })).status).toBe(200);
    const { reply, record } = await callRecorded(app, owner, key, { body: '{"model":"o3"}' });
    expect(errorOf(reply)).toMatchObject({ type: 'permission_error', code: 'model_not_allowed' });
    expect([reply.status, reply.headers['x-should-retry']]).toEqual([403, 'false']);
    expect(record).toMatchObject({ outcome: 'client_error', attempts: [] });
    expect((await send({ body: '{"model":"m","model":"gpt-5"}' })).status).toBe(400);
    for (const [status, options] of [
      [403, { body: '{}' }],
      [403, { path: '/v1/batches', body: '{}' }],
      [403, { body: '\u001f', headers: { 'content-encoding': 'gzip' } }],
      [403, { path: '/v1/chat/completions#/cancel', body: '{}' }],
      [403, { method: 'PUT', path: '/v1/files', body: '{}' }],
      [403, { path: '/v1/models/o3' }],
      [200, { path: '/v1/models/gpt-5' }],
      [200, { path: '/v1/files' }],
      [200, { path: '/v1/files', body: 'x' }],
      [200, { path: '/v1/uploads/1/parts', body: 'x' }],
      [200, { path: '/v1/batches/1/cancel', body: '' }],
      [200, { method: 'DELETE', path: '/v1/files/1' }],
    ] as [number, Call][])
      expect([options, (await send(options)).status]).toEqual([options, status]);
  });

  it('applies to the list of models', async () => {
    const { key } = await limited({ models: ['gpt-*'] });
    upstream.respond = respondWith('{"data":[{"id":"gpt-5"},{"id":"o3"}]}');
    const { text } = await call(app, key, { path: '/v1/models' });
    expect((JSON.parse(text) as { data: { id: string }[] }).data.map(({ id }) => id)).toEqual(['gpt-5']);
  });
});

describe('the routes of limits', () => {
  it('replace the limits of an organization, and leave an event for each level', async () => {
    const { owner } = await limited({});
    const status = { requests_last_minute: 0, tokens_last_minute: 0, budget: null };
    await owner.admin.get('/me/limits').expect(200, { organization: NONE, member: NONE, status });
    const { body } = await owner.admin
      .put('/me/limits')
      .send({ organization: LIMITS, member: null })
      .expect(200);
    expect(body).toMatchObject({ organization: LIMITS, member: NONE, status: { budget: { spent_usd: 0 } } });
    await owner.admin.put('/me/limits').send({ member: LIMITS }).expect(200);
    const { body: audit } = await owner.admin
      .get(`/me/organizations/${owner.organizationId}/audit`)
      .expect(200);
    const details = (audit.events as { action: string; details: object }[])
      .filter(({ action }) => action === 'limits.changed')
      .map((event) => event.details);
    expect(details).toEqual([
      { level: 'member', from: NONE, to: LIMITS },
      { level: 'organization', from: LIMITS, to: NONE },
      { level: 'organization', from: NONE, to: LIMITS },
    ]);
  });

  it('count admitted requests only', async () => {
    const owner = await personalOwner(app);
    const key = await mintKey(owner);
    for (let i = 0; i < 2; i++)
      expect((await callRecorded(app, owner, key, A_CALL)).record.outcome).toBe('no_upstream');
    await fillPool(owner, { url: upstream.url, provider: 'openai' });
    await callRecorded(app, owner, key, A_CALL);
    const { body } = await owner.admin.get('/me/limits').expect(200);
    expect(body.status.requests_last_minute).toBe(1);
  });

  it('check the role before the body', async () => {
    const team = await teamOwner(app);
    const user = `limited-${team.organizationId}`;
    const member = await join(app, team, user, 'member');
    const { body: key } = await member.post(`${team.base}/keys`).send({ limits: LIMITS }).expect(201);
    await member.get(`${team.base}/limits`).expect(200);
    await member.put(`${team.base}/limits`).send('nonsense').expect(403);
    await member.get(`/me/keys/${key.id}/limits`).expect(200);
    await member.put(`/me/keys/${key.id}/limits`).send('nonsense').expect(403);
    await member.get(`${team.base}/keys/${key.id}/limits`).expect(403);
    await team.admin.put(`/me/keys/${key.id}/limits`).send({}).expect(404);
    for (const id of [key.id, 999_999_999])
      await team.admin.put(`/me/keys/${id}/limits`).send({ requests_per_minute: 0 }).expect(400);
    await team.admin.put(`${team.base}/keys/999999999/limits`).send({}).expect(404);
    const { body } = await team.admin
      .put(`${team.base}/keys/${key.id}/limits`)
      .send({ models: ['a'] })
      .expect(200);
    expect(body.limits).toEqual({ ...NONE, models: ['a'] });
    const { body: own } = await member.get(`${team.base}/members/${user}/limits`).expect(200);
    expect(own).toMatchObject({ limits: NONE, status: { requests_last_minute: 0, budget: null } });
    await member.get(`${team.base}/members/${team.user}/limits`).expect(403);
    await team.admin.get(`${team.base}/members/${user}/limits`).expect(200);
    await team.admin.get(`${team.base}/members/nobody/limits`).expect(404);
  });

  it.each([
    [{ requests_per_minute: 0 }],
    [{ requests_per_minute: 1.5 }],
    [{ requests_per_minute: '5' }],
    [{ requests_per_minute: 1_000_001 }],
    [{ tokens_per_minute: 0 }],
    [{ tokens_per_minute: 1_000_000_001 }],
    [{ budget: 5 }],
    [{ budget: { usd: 5 } }],
    [{ budget: { usd: 0, period: 'day' } }],
    [{ budget: { usd: 0.00001, period: 'day' } }],
    [{ budget: { usd: 1_000_000_001, period: 'day' } }],
    [{ budget: { usd: 5, period: 'year' } }],
    [{ models: [] }],
    [{ models: 'a' }],
    [{ models: [''] }],
    [{ models: [1] }],
    [{ models: Array.from({ length: 101 }, (_, i) => String(i)) }],
  ])('reject %j, and name the member', async (limits) => {
    const { owner, id } = await limited({});
    const [member] = Object.keys(limits);
    for (const [method, path, body] of [
      ['put', '/me/limits', { organization: limits }],
      ['put', '/me/limits', { member: limits }],
      ['put', `/me/keys/${id}/limits`, limits],
      ['post', '/me/keys', { limits }],
    ] as const) {
      const { body: answer } = await owner.admin[method](path).send(body).expect(400);
      expect(answer.error).toMatchObject({
        type: 'invalid_limits',
        message: expect.stringContaining(member!),
      });
    }
  });
});

it('rejections are counted by limit and level', async () => {
  const rejected = async () => {
    const metrics = await readMetrics(app);
    return (limit: string, level: string) =>
      metrics.get(`mintkeep_limit_rejections_total{limit="${limit}",level="${level}"}`) ?? 0;
  };
  const before = await rejected();
  const { key } = await limited({ requests_per_minute: 1, models: ['m'] });
  await call(app, key, { body: '{"model":"x"}' });
  for (let i = 0; i < 3; i++) await call(app, key, A_CALL);
  const after = await rejected();
  expect(after('models', 'key') - before('models', 'key')).toBe(1);
  expect(after('requests', 'key') - before('requests', 'key')).toBe(2);
});

it('keys without limits are admitted without the enforcer', async () => {
  const owner = await personalOwner(app);
  await fillPool(owner, upstream.url);
  const key = await mintKey(owner);
  const enforcer = app.app.get(LimitEnforcer, { strict: false });
  const asked = jest.spyOn(enforcer, 'admit');
  expect((await call(app, key, A_CALL)).status).toBe(200);
  expect(asked).not.toHaveBeenCalled();
  asked.mockRestore();
});
