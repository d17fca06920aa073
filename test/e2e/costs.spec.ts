import { calcPrice } from '@pydantic/genai-prices';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { join, personalOwner, teamOwner } from '../support/owners.js';
import type { TestOwner } from '../support/owners.js';
import { fillPool, mintKey } from '../support/proxy-client.js';
import type { PoolEntry } from '../support/proxy-client.js';
import { respondWith, startRawUpstream } from '../support/raw-upstream.js';
import type { RawUpstream, Responder } from '../support/raw-upstream.js';
import { callRecorded } from '../support/recorded.js';
import { recordAll, usageRecord } from '../support/usage.js';

let app: TestApp;
let upstream: RawUpstream;
let owner: TestOwner;
let key: string;

beforeAll(async () => {
  app = await startApp({ UPSTREAM_PRIVATE_NETWORKS: 'allow' });
});
afterAll(() => app.close());
beforeEach(async () => {
  upstream = await startRawUpstream(respondWith('{}'));
  owner = await personalOwner(app);
  key = await mintKey(owner);
});
afterEach(() => upstream.close());

const pool = (entry: Partial<PoolEntry> & { models?: object[] } = {}) =>
  fillPool(owner, { url: upstream.url, provider: 'openai', ...entry });
const usage = (figures: object) => respondWith(JSON.stringify({ usage: figures }));
const setPrices = (prices: object[]) => owner.admin.put('/me/prices').send({ prices });
const record = async (respond: Responder, model = 'm', path = '/v1/chat/completions') => {
  upstream.respond = respond;
  return (await callRecorded(app, owner, key, { path, body: JSON.stringify({ model }) })).record;
};

describe('the cost of a request', () => {
  it('follows the own prices exactly', async () => {
    await pool();
    await setPrices([
      { model: 'm', input: 0.0003, output: 1.5, cached_input: 0.0001, cache_write: 2 },
    ]).expect(200);
    const figures = {
      prompt_tokens: 1_001,
      completion_tokens: 7,
      prompt_tokens_details: { cached_tokens: 333 },
    };
    // (1001 - 333) × 0.0003 + 333 × 0.0001 + 7 × 1.5 USD per million tokens
    expect(await record(usage(figures))).toMatchObject({ cost_usd: 0.0000107337, price_source: 'own' });
    const anthropic = {
      input_tokens: 10,
      cache_read_input_tokens: 20,
      cache_creation_input_tokens: 5,
      output_tokens: 0,
    };
    expect(await record(usage(anthropic))).toMatchObject({
      ...{ input_tokens: 35, cached_input_tokens: 20, cache_write_tokens: 5, cost_usd: 0.000010005 },
    });
  });

  it('uses the first price that matches the model sent to the upstream', async () => {
    const [id] = await pool({ models: [{ model: 'x/*', as: '*' }] });
    await setPrices([
      { model: 'x/m', input: 9, output: 9 },
      { model: 'm', upstream_id: id, input: 1, output: 0 },
      { model: '*', input: 2, output: 0 },
    ]).expect(200);
    const tokens = usage({ prompt_tokens: 1_000_000, completion_tokens: 1 });
    expect((await record(tokens, 'x/m')).cost_usd).toBe(1);
    expect((await record(tokens, 'x/n')).cost_usd).toBe(2);
  });

  it('defaults the prices of cached tokens to the price of the input', async () => {
    await pool();
    await setPrices([{ model: '*', input: 1, output: 0 }]).expect(200);
    const details = { prompt_tokens_details: { cached_tokens: 500_000 } };
    const { cost_usd } = await record(usage({ prompt_tokens: 1_000_000, completion_tokens: 0, ...details }));
    expect(cost_usd).toBe(1);
  });

  it.each([
    [
      'openai',
      'gpt-5-mini',
      { prompt_tokens: 1_000, completion_tokens: 50, prompt_tokens_details: { cached_tokens: 100 } },
    ],
    ['anthropic', 'claude-sonnet-4-5', { input_tokens: 300, cache_read_input_tokens: 200, output_tokens: 9 }],
    ['xai', 'grok-4', { prompt_tokens: 12, completion_tokens: 3 }],
  ])('follows the price list for %s without own prices', async (provider, model, figures) => {
    await pool({ provider });
    const made = await record(usage(figures), model);
    const expected = calcPrice(
      {
        input_tokens: made.input_tokens!,
        cache_read_tokens: made.cached_input_tokens ?? 0,
        output_tokens: made.output_tokens!,
      },
      model,
      { providerId: provider === 'xai' ? 'x-ai' : provider },
    );
    expect(made.price_source).toBe('list');
    expect(made.cost_usd).toBeCloseTo(expected!.total_price, 10);
    expect(made.cost_usd).toBeGreaterThan(0);
  });

  it.each([
    ['an unknown model', 'unknown-model', 'openai'],
    ['a custom provider', 'gpt-5-mini', 'custom'],
  ])('is unknown for %s', async (_what, model, provider) => {
    await pool({ provider });
    const made = await record(usage({ prompt_tokens: 5, completion_tokens: 5 }), model);
    expect(made).toMatchObject({ cost_usd: null, price_source: 'none' });
  });

  it.each<[string, Responder, number | null]>([
    ['a response without tokens', respondWith('{}'), null],
    ['a 5xx', respondWith('{}', { status: 500 }), null],
    ['a 4xx', respondWith('{}', { status: 400 }), 0],
    ['a connection that closes', ({ socket }) => socket.end(), null],
    ['no tokens at all', usage({ prompt_tokens: 0, completion_tokens: 0 }), 0],
    ['an unknown output', usage({ prompt_tokens: 1_000_000 }), 1],
  ])('matches %s', async (_what, respond, cost) => {
    await pool();
    await setPrices([{ model: '*', input: 1, output: 1 }]).expect(200);
    expect((await record(respond)).cost_usd).toBe(cost);
  });

  it('is 0 for requests that generate nothing, reach no upstream or are rejected', async () => {
    expect((await callRecorded(app, owner, key, { body: '{}' })).record).toMatchObject({
      outcome: 'no_upstream',
      cost_usd: 0,
    });
    await pool();
    upstream.respond = usage({ prompt_tokens: 5 });
    for (const path of ['/v1/files', '/v1/responses/1/cancel'])
      expect((await record(usage({ prompt_tokens: 5 }), 'm', path)).cost_usd).toBe(0);
    const { record: read } = await callRecorded(app, owner, key, { path: '/v1/responses/1' });
    expect(read).toMatchObject({ cost_usd: 0, price_source: 'none' });
    await upstream.close();
    expect((await callRecorded(app, owner, key, { body: '{"model":"m"}' })).record).toMatchObject({
      status: 502,
      cost_usd: 0,
    });
  });

  it('counts reasoning tokens', async () => {
    await pool();
    const details = { completion_tokens_details: { reasoning_tokens: 3 } };
    expect(await record(usage({ prompt_tokens: 1, completion_tokens: 5, ...details }))).toMatchObject({
      ...{ output_tokens: 5, reasoning_tokens: 3 },
    });
  });
});

describe('sums', () => {
  it('are exact, and count what is unpriced', async () => {
    const at = '2026-04-01T10:00:00.000Z';
    const fields = { organization_id: owner.organizationId, user_id: owner.user, at };
    await recordAll(app, [
      ...Array.from({ length: 30 }, () => usageRecord({ ...fields, cost_usd: 0.0000000001 })),
      usageRecord({ ...fields, cost_usd: 123_456.7 }),
      usageRecord({
        ...fields,
        cost_usd: null,
        price_source: 'none',
        cache_write_tokens: 4,
        reasoning_tokens: 2,
      }),
      usageRecord({ ...fields, cost_usd: null, upstream_id: null }),
    ]);
    for (const query of [
      { from: '2026-04-01', to: '2026-04-02' },
      { from: '2026-04-01T09:59:59Z', to: '2026-04-01T10:30:00Z' },
    ]) {
      const { body } = await owner.admin.get('/me/usage').query(query).expect(200);
      expect(body.totals).toMatchObject({
        ...{ requests: 33, cost_usd: 123_456.700_000_003, unpriced_requests: 1 },
        ...{ cache_write_tokens: 4, reasoning_tokens: 2 },
      });
    }
  });

  it('include records of the version before, whose costs are unknown', async () => {
    const { query } = app.database;
    await query(
      `INSERT INTO usage_rollups (granularity, start, organization_id, user_id, key_id, upstream_id, status, last_at,
         requests, errors, latency_ms, ttft_requests, histogram)
       VALUES ('day', '2026-03-01', $1, $2, 1, 1, 200, '2026-03-01', 5, 0, 1, 0, '{}'),
         ('day', '2026-03-01', $1, $2, 1, NULL, 429, '2026-03-01', 3, 3, 1, 0, '{}')`,
      [owner.organizationId, owner.user],
    );
    const range = { from: '2026-03-01', to: '2026-03-02' };
    const { body } = await owner.admin.get('/me/usage').query(range).expect(200);
    expect(body.totals).toMatchObject({ requests: 8, unpriced_requests: 5, cost_usd: null });
  });
});

describe('own prices', () => {
  it('are read and replaced', async () => {
    await owner.admin.get('/me/prices').expect(200, { prices: [] });
    const prices = [{ model: 'a*', input: 0, output: 1_000_000, cached_input: 0.0001 }];
    await setPrices(prices).expect(200, { prices });
    await owner.admin.get('/me/prices').expect(200, { prices });
    await setPrices([]).expect(200, { prices: [] });
    const { body } = await owner.admin.get(`/me/organizations/${owner.organizationId}/audit`).expect(200);
    expect(body.events[0]).toMatchObject({ action: 'prices.changed' });
  });

  it('apply to later requests at once', async () => {
    await pool();
    const tokens = usage({ prompt_tokens: 1_000_000, completion_tokens: 0 });
    for (const input of [1, 2]) {
      await setPrices([{ model: 'm', input, output: 1 }]).expect(200);
      expect((await record(tokens)).cost_usd).toBe(input);
    }
  });

  it('are changed by the admins of a team, and read by its members', async () => {
    const team = await teamOwner(app);
    const member = await join(app, team, `member-${team.organizationId}`, 'member');
    await member.get(`${team.base}/prices`).expect(200, { prices: [] });
    await member.put(`${team.base}/prices`).send({ prices: 'nonsense' }).expect(403);
    await team.admin.put(`${team.base}/prices`).send({ prices: [] }).expect(200);
  });

  it('name own upstreams only', async () => {
    const other = await personalOwner(app);
    const [id] = await fillPool(other, upstream.url);
    const { body } = await setPrices([{ model: 'm', upstream_id: id, input: 1, output: 1 }]).expect(400);
    expect(body.error.type).toBe('invalid_prices');
  });

  it.each([
    [{}],
    [{ prices: null }],
    [{ prices: {} }],
    [{ prices: [{}] }],
    [{ prices: [{ model: '', input: 1, output: 1 }] }],
    [{ prices: [{ model: 'm', input: 1 }] }],
    [{ prices: [{ model: 'm', input: -1, output: 1 }] }],
    [{ prices: [{ model: 'm', input: 1, output: 1_000_000.1 }] }],
    [{ prices: [{ model: 'm', input: 0.00001, output: 1 }] }],
    [{ prices: [{ model: 'm', input: '1', output: 1 }] }],
    [{ prices: [{ model: 'm', input: 1, output: 1, cached_input: 'x' }] }],
    [{ prices: [{ model: 'm', input: 1, output: 1, upstream_id: -1 }] }],
    [{ prices: Array.from({ length: 501 }, () => ({ model: 'm', input: 1, output: 1 })) }],
  ])('like %j are rejected', async (body) => {
    const { body: answer } = await owner.admin.put('/me/prices').send(body).expect(400);
    expect(answer.error.type).toBe('invalid_prices');
  });
});

describe('GET /me/prices/list', () => {
  const list = async (query: object) =>
    (await owner.admin.get('/me/prices/list').query(query).expect(200)).body.prices as {
      provider: string;
      model: string;
    }[];

  it('has prices by provider and model', async () => {
    const prices = await list({ provider: 'openai', model: 'gpt-5-mini' });
    expect(prices[0]).toEqual({
      ...{ provider: 'openai', model: 'gpt-5-mini', input: expect.any(Number), output: expect.any(Number) },
      ...{ cached_input: expect.any(Number), cache_write: null },
    });
    expect(prices.every(({ model }) => model.startsWith('gpt-5-mini'))).toBe(true);
  });

  it('has at most 500 entries, in order', async () => {
    const prices = await list({});
    expect(prices).toHaveLength(500);
    const names = prices.map(({ provider, model }) => `${provider} ${model}`);
    expect(names).toEqual(names.toSorted((a, b) => (a < b ? -1 : 1)));
    expect(await list({ provider: 'custom' })).toEqual([]);
    expect((await list({ provider: 'xai' })).length).toBeGreaterThan(0);
  });

  it('rejects repeated parameters', () => owner.admin.get('/me/prices/list?model=a&model=b').expect(400));
});
