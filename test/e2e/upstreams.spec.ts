import type { LookupAddress } from 'node:dns';
import { inspect } from 'node:util';
import { jest } from '@jest/globals';
import pg from 'pg';
import { Transactions } from '../../src/database/transactions/transactions.js';
import { HostResolver } from '../../src/upstreams/name-resolution/host-resolver.js';
import { UpstreamsChanged, UpstreamsService } from '../../src/upstreams/upstreams.service.js';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { connect, lockedOut, nobodyLockedOut } from '../support/database.js';
import { startUpstream } from '../support/fake-upstream.js';
import { join, OWNER_KINDS, personalOwner, teamOwner } from '../support/owners.js';
import type { TestOwner } from '../support/owners.js';
import { inParallel, tally } from '../support/parallel.js';

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const API_KEY = 'sk-proj-0123456789abcdef-WXYZ';
const OPENAI = { name: 'OpenAI', base_url: 'https://api.openai.com/v1', api_key: API_KEY };
const typed = (type: string) => ({ error: { type, message: expect.any(String) } });
const untyped = { error: { message: expect.any(String) } };

/** Addresses of the resolvable host names. */
const hosts: Record<string, string[]> = {
  'api.openai.com': ['162.159.140.245'],
  'inside.example': ['10.0.0.7'],
  'mixed.example': ['93.184.216.34', 'fd00::7'],
  'metadata.google.internal': ['169.254.169.254'],
  localhost: ['127.0.0.1'],
};

/** App with default settings, and app that allows upstreams on this machine. Neither queries name servers. */
let app: TestApp;
let local: TestApp;

beforeAll(async () => {
  [app, local] = await Promise.all([startApp(), startApp({ UPSTREAM_PRIVATE_NETWORKS: 'allow' })]);
  for (const { app: service } of [app, local]) {
    jest.spyOn(service.get(HostResolver), 'resolve').mockImplementation(resolve);
  }
});
afterAll(() => Promise.all([app.close(), local.close()]));

async function resolve(hostname: string): Promise<LookupAddress[]> {
  const addresses = hosts[hostname];
  if (!addresses) throw Object.assign(new Error('not found'), { code: 'ENOTFOUND' });
  return Promise.resolve(addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })));
}

const service = () => app.app.get(UpstreamsService);

describe.each(OWNER_KINDS)('upstreams of %s', (_kind, makeOwner) => {
  let owner: TestOwner;
  let url: string;

  beforeEach(async () => {
    owner = await makeOwner(app);
    url = `${owner.base}/upstreams`;
  });

  async function create(body: object = {}) {
    return (
      await owner.admin
        .post(url)
        .send({ ...OPENAI, ...body })
        .expect(201)
    ).body;
  }

  async function audit() {
    const events = await app.database.query<Record<string, unknown>>(
      `SELECT action, actor_user_id AS actor, target, details FROM audit_events
       WHERE organization_id = $1 AND action LIKE 'upstream.%' ORDER BY id`,
      [owner.organizationId],
    );
    return events;
  }

  it('creates an upstream and returns it without the API key', async () => {
    const upstream = await create({ name: ' OpenAI\u00a0', base_url: 'HTTPS://API.OpenAI.com:443/v1/' });
    expect(upstream).toEqual({
      id: expect.any(Number),
      name: 'OpenAI',
      base_url: 'https://api.openai.com/v1',
      provider: 'openai',
      priority: 100,
      enabled: true,
      models: null,
      failover_on: [],
      api_key_hint: 'WXYZ',
      created_at: expect.stringMatching(ISO_TIME),
      updated_at: upstream.created_at,
    });
    await owner.admin.get(`${url}/${upstream.id}`).expect(200, upstream);
    await owner.admin.get(url).expect(200, { upstreams: [upstream] });
  });

  it('stores all given members', async () => {
    const given = { priority: 0, enabled: false, provider: 'anthropic' };
    expect(await create(given)).toMatchObject(given);
  });

  it('treats null like an absent member', async () => {
    expect(await create({ priority: null, enabled: null, provider: null })).toMatchObject({
      ...{ priority: 100, enabled: true, provider: 'openai' },
    });
  });

  it('starts with an empty list', () => owner.admin.get(url).expect(200, { upstreams: [] }));

  it('lists in the order in which they are tried, with an entity tag for 304 responses', async () => {
    for (const [name, priority] of [
      ['third', 100],
      ['first', 0],
      ['last', 1_000_000],
      ['fourth', 100],
      ['second', 99],
    ] as const) {
      await create({ name, priority });
    }
    const { body, headers } = await owner.admin.get(url).expect(200);
    const names = body.upstreams.map(({ name }: { name: string }) => name);
    expect(names).toEqual(['first', 'second', 'third', 'fourth', 'last']);
    await owner.admin.get(url).set('If-None-Match', headers.etag!).expect(304);
  });

  it.each([
    [{ name: undefined }, 'invalid_name'],
    [{ name: ' ' }, 'invalid_name'],
    [{ name: 7 }, 'invalid_name'],
    [{ base_url: undefined }, 'invalid_base_url'],
    [{ base_url: null }, 'invalid_base_url'],
    [{ base_url: 7 }, 'invalid_base_url'],
    [{ base_url: 'ftp://example.com' }, 'invalid_base_url'],
    [{ base_url: 'https://user:pass@example.com' }, 'invalid_base_url'],
    [{ base_url: 'https://example.com?key=1' }, 'invalid_base_url'],
    [{ base_url: 'https://example.com/#' }, 'invalid_base_url'],
    [{ base_url: `https://example.com/${'a'.repeat(2_048)}` }, 'invalid_base_url'],
    [{ api_key: undefined }, 'invalid_api_key'],
    [{ api_key: null }, 'invalid_api_key'],
    [{ api_key: 'short-7' }, 'invalid_api_key'],
    [{ api_key: 'x'.repeat(4_097) }, 'invalid_api_key'],
    [{ api_key: 'with a space' }, 'invalid_api_key'],
    [{ api_key: 'with-newline\n' }, 'invalid_api_key'],
    [{ api_key: 'with-ümlaut' }, 'invalid_api_key'],
    [{ api_key: 123456789 }, 'invalid_api_key'],
    [{ priority: -1 }, 'invalid_priority'],
    [{ priority: 1_000_001 }, 'invalid_priority'],
    [{ priority: 1.5 }, 'invalid_priority'],
    [{ priority: '100' }, 'invalid_priority'],
    [{ provider: 'unheard-of' }, 'invalid_provider'],
    [{ provider: 7 }, 'invalid_provider'],
  ] as [Record<string, unknown>, string][])('rejects %j', async (change, type) => {
    const { body, text } = await owner.admin
      .post(url)
      .send({ ...OPENAI, ...change })
      .expect(400);
    expect(body).toEqual(typed(type));
    if (typeof change.api_key === 'string') expect(text).not.toContain(change.api_key);
    await owner.admin.get(url).expect(200, { upstreams: [] });
  });

  it.each(['true', 1, 0, {}, []])('rejects %j as enabled, without an error type', async (enabled) => {
    expect(
      (
        await owner.admin
          .post(url)
          .send({ ...OPENAI, enabled })
          .expect(400)
      ).body,
    ).toEqual(untyped);
    const { id } = await create();
    expect((await owner.admin.put(`${url}/${id}`).send({ enabled }).expect(400)).body).toEqual(untyped);
  });

  it.each(['x'.repeat(8), 'x'.repeat(4_096), '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'])(
    'takes an API key as it is (%#)',
    async (api_key) => {
      expect((await create({ api_key })).api_key_hint).toBe(api_key.slice(-4));
      expect((await service().findPool(owner.organizationId))[0]!.apiKey).toBe(api_key);
    },
  );

  it.each([
    [{ name: 'Changed' }, { name: 'Changed' }],
    [{ priority: 0 }, { priority: 0 }],
    [{ enabled: false }, { enabled: false }],
    [{ provider: 'custom' }, { provider: 'custom' }],
    [{ api_key: 'another-key-9876' }, { api_key_hint: '9876' }],
    [{ base_url: 'https://api.openai.com:443/v2/' }, { base_url: 'https://api.openai.com/v2' }],
    [{}, {}],
    [{ name: null, base_url: null, api_key: null, priority: null, enabled: null, provider: null }, {}],
  ] as [Record<string, unknown>, object][])('a PUT of %j changes only that', async (change, expected) => {
    const before = await create();
    const { body: after } = await owner.admin.put(`${url}/${before.id}`).send(change).expect(200);
    expect(after).toEqual({ ...before, ...expected, updated_at: after.updated_at });
    expect(after.updated_at > before.updated_at).toBe(true);
    await owner.admin.get(`${url}/${before.id}`).expect(200, after);
    const [{ apiKey } = { apiKey: API_KEY }] = await service().findPool(owner.organizationId);
    expect(apiKey).toBe(change.api_key ?? API_KEY);
  });

  it.each([
    [{ name: '' }, 'invalid_name'],
    [{ base_url: 'nonsense' }, 'invalid_base_url'],
    [{ base_url: 'https://inside.example' }, 'invalid_base_url'],
    [{ api_key: 'short' }, 'invalid_api_key'],
    [{ priority: 0.5 }, 'invalid_priority'],
    [{ provider: 'OpenAI' }, 'invalid_provider'],
  ])('rejects a PUT of %j and changes nothing', async (change, type) => {
    const before = await create();
    const body = { name: 'new', api_key: 'new-key-for-it', ...change };
    expect((await owner.admin.put(`${url}/${before.id}`).send(body).expect(400)).body).toEqual(typed(type));
    await owner.admin.get(`${url}/${before.id}`).expect(200, before);
  });

  it.each([
    'http://api.openai.com/v1',
    'https://api.openai.com:8443/v1',
    'https://evil.example/v1',
    'https://api.openai.com./v1',
  ])('needs the API key again for %s', async (base_url) => {
    const before = await create();
    const refused = await owner.admin
      .put(`${url}/${before.id}`)
      .send({ base_url, enabled: false })
      .expect(400);
    expect(refused.body).toEqual(typed('invalid_api_key'));
    await owner.admin.get(`${url}/${before.id}`).expect(200, before);
    const change = { base_url, api_key: 'key-for-there' };
    const { body } = await owner.admin.put(`${url}/${before.id}`).send(change).expect(200);
    expect(body).toMatchObject({ base_url, api_key_hint: 'here' });
  });

  describe('the provider', () => {
    const elsewhere = { base_url: 'https://api.anthropic.com', api_key: 'sk-ant-0123456789' };

    it('follows the host while it is derived', async () => {
      const { id } = await create();
      expect((await owner.admin.put(`${url}/${id}`).send(elsewhere)).body.provider).toBe('anthropic');
      const back = { ...OPENAI, base_url: 'https://proxy.example' };
      expect((await owner.admin.put(`${url}/${id}`).send(back)).body.provider).toBe('custom');
    });

    it.each(['POST', 'PUT'])('stays if it was chosen by %s, even if it matches the host', async (by) => {
      const chosen = { ...elsewhere, provider: 'anthropic' };
      const { id } = await create(by === 'POST' ? chosen : elsewhere);
      if (by === 'PUT') await owner.admin.put(`${url}/${id}`).send(chosen).expect(200);
      const proxied = { base_url: 'https://proxy.example', api_key: 'key-for-there' };
      const { body } = await owner.admin.put(`${url}/${id}`).send(proxied).expect(200);
      expect(body.provider).toBe('anthropic');
    });

    it('stays if it differs from the host and is not marked as chosen', async () => {
      const { id } = await create({ provider: 'groq' });
      await app.database.query('UPDATE upstreams SET provider_chosen = false WHERE id = $1', [id]);
      expect((await owner.admin.put(`${url}/${id}`).send(elsewhere)).body.provider).toBe('groq');
    });

    it('stays as chosen', async () => {
      const { id } = await create({ provider: 'groq' });
      expect((await owner.admin.put(`${url}/${id}`).send(elsewhere)).body.provider).toBe('groq');
      const chosen = { ...OPENAI, provider: 'mistral' };
      expect((await owner.admin.put(`${url}/${id}`).send(chosen)).body.provider).toBe('mistral');
    });
  });

  it('deletes an upstream, once', async () => {
    const { id } = await create();
    await owner.admin.delete(`${url}/${id}`).expect(204, '');
    await owner.admin.delete(`${url}/${id}`).expect(404, { error: { message: 'not found' } });
    await owner.admin.get(`${url}/${id}`).expect(404);
    await create(); // the name is free again
  });

  it('allows a name once per owner', async () => {
    await create();
    const two = await create({ name: 'two' });
    expect(
      (
        await owner.admin
          .post(url)
          .send({ ...OPENAI, name: ' OpenAI ' })
          .expect(409)
      ).body,
    ).toEqual(typed('name_taken'));
    const rename = { name: 'OpenAI', enabled: false };
    expect((await owner.admin.put(`${url}/${two.id}`).send(rename).expect(409)).body).toEqual(
      typed('name_taken'),
    );
    await owner.admin.get(`${url}/${two.id}`).expect(200, two);
    await owner.admin.put(`${url}/${two.id}`).send({ name: 'two' }).expect(200);
    const other = await makeOwner(app);
    await other.admin.post(`${other.base}/upstreams`).send(OPENAI).expect(201);
  });

  it('lets one of 20 simultaneous creations of one name win', async () => {
    const answers = await inParallel(20, () => owner.admin.post(url).send(OPENAI));
    expect(tally(answers.map(({ status }) => status))).toEqual({ 201: 1, 409: 19 });
    expect(await audit()).toHaveLength(1);
  });

  it('can take a name once it is released, without delaying the release', async () => {
    const [a, b] = [await create({ name: 'a' }), await create({ name: 'b' })];
    const other = new pg.Client({ connectionString: app.database.url });
    await other.connect();
    await other.query('BEGIN');
    await other.query('UPDATE upstreams SET name = $1 WHERE id = $2', ['c', b.id]);
    const renamed = owner.admin.put(`${url}/${a.id}`).send({ name: 'b' }).then();
    await lockedOut(app.database, 1);
    await other.query('UPDATE upstreams SET priority = 1 WHERE id = $1', [a.id]);
    await other.query('COMMIT');
    await other.end();
    const { status, body } = await renamed;
    expect({ status, body }).toMatchObject({ status: 200, body: { id: a.id, name: 'b', priority: 1 } });
  });

  it('keeps API key and address consistent under parallel PUTs', async () => {
    const { id } = await create();
    const places = [
      { base_url: 'https://one.example', api_key: 'key-for-one' },
      { base_url: 'https://two.example', api_key: 'key-for-two' },
    ];
    const answers = await inParallel(20, (i) => owner.admin.put(`${url}/${id}`).send(places[i % 2]));
    expect(tally(answers.map(({ status }) => status))).toEqual({ 200: 20 });
    const times = answers.map(({ body }) => body.updated_at);
    expect(new Set(times).size).toBe(20);
    const [{ baseUrl, apiKey } = { baseUrl: '', apiKey: '' }] = await service().findPool(
      owner.organizationId,
    );
    expect(places).toContainEqual({ base_url: baseUrl, api_key: apiKey });
  });

  it('does not overwrite members that a parallel PUT changes', async () => {
    const { id } = await create();
    const other = await connect(app.database);
    try {
      await other.query('BEGIN');
      await other.query(`UPDATE upstreams SET base_url = 'https://moved.example' WHERE id = $1`, [id]);
      const put = owner.admin.put(`${url}/${id}`).send({ priority: 7 }).expect(200).then();
      await lockedOut(app.database, 1);
      await other.query('COMMIT');
      expect((await put).body).toMatchObject({ base_url: 'https://moved.example', priority: 7 });
    } finally {
      await other.end();
    }
  });

  it("hides another owner's upstream behind the same 404 as one that does not exist", async () => {
    const { id } = await create();
    const other = await makeOwner(app);
    const address = `${other.base}/upstreams`;
    const missing = await other.admin.get(`${address}/999999999999999`).expect(404);
    expect(missing.body).toEqual({ error: { message: 'not found' } });
    for (const request of [
      other.admin.get(`${address}/${id}`),
      other.admin.put(`${address}/${id}`).send({ name: 'x' }),
      other.admin.delete(`${address}/${id}`),
      other.admin.post(`${address}/${id}/test`),
    ]) {
      expect((await request.expect(404)).body).toEqual(missing.body);
    }
    await owner.admin.get(`${url}/${id}`).expect(200);
  });

  it('checks the body first, then the upstream, then the name', async () => {
    await create();
    const missing = `${url}/999999`;
    await owner.admin
      .put(`${url}/abc`)
      .send({ priority: -1 })
      .expect(400, {
        error: { message: 'malformed id: expected a decimal integer of 1 to 15 digits' },
      });
    expect((await owner.admin.put(missing).send({ priority: -1 }).expect(400)).body).toEqual(
      typed('invalid_priority'),
    );
    expect((await owner.admin.put(missing).send({ base_url: 'http://127.0.0.1' }).expect(400)).body).toEqual(
      typed('invalid_base_url'),
    );
    await owner.admin.put(missing).send({ name: 'OpenAI' }).expect(404);
    const { body } = await owner.admin.post(url).send({ ...OPENAI, base_url: 'http://127.0.0.1' });
    expect(body).toEqual(typed('invalid_base_url'));
  });

  it('records changed members in the audit trail, but no API key', async () => {
    const { id } = await create();
    await owner.admin.put(`${url}/${id}`).send({}).expect(200);
    await owner.admin.put(`${url}/${id}`).send({ name: 'OpenAI', priority: 5 }).expect(200);
    const change = { name: 'Other', base_url: 'https://other.example', api_key: 'another-key-9876' };
    await owner.admin.put(`${url}/${id}`).send(change).expect(200);
    await owner.admin.put(`${url}/${id}`).send({ base_url: 'https://x.example' }).expect(400);
    await owner.admin.post(url).send(OPENAI).expect(201);
    await owner.admin.put(`${url}/${id}`).send({ name: 'OpenAI' }).expect(409);
    await owner.admin.delete(`${url}/${id}`).expect(204);
    const events = (await audit()).filter(({ target }) => (target as { id: number }).id === id);
    const { base_url, name } = OPENAI;
    const created = { name, base_url, provider: 'openai', priority: 100, enabled: true };
    const moved = {
      name: 'Other',
      base_url: 'https://other.example',
      provider: 'custom',
      api_key: 'changed',
    };
    expect(events).toEqual(
      [
        ['upstream.created', 'OpenAI', created],
        ['upstream.updated', 'OpenAI', { priority: 5 }],
        ['upstream.updated', 'OpenAI', moved],
        ['upstream.deleted', 'Other', {}],
      ].map(([action, name, details]) => ({
        ...{ action, actor: owner.user, target: { type: 'upstream', id, name }, details },
      })),
    );
  });

  it('emits an event for every change in its transaction, and none for a failed change', async () => {
    const transactions = app.app.get(Transactions);
    const told: number[] = [];
    transactions.on(UpstreamsChanged, async ({ organizationId }, transaction) => {
      if (organizationId !== owner.organizationId) return;
      const rows = await transaction.query<unknown[]>('SELECT 1 FROM upstreams WHERE organization_id = $1', [
        organizationId,
      ]);
      told.push(rows.length);
    });
    const { id } = await create();
    await owner.admin.put(`${url}/${id}`).send({ enabled: false }).expect(200);
    await owner.admin.post(url).send(OPENAI).expect(409);
    await owner.admin.put(`${url}/999999`).send({ enabled: false }).expect(404);
    await owner.admin.delete(`${url}/${id}`).expect(204);
    expect(told).toEqual([1, 1, 0]);
  });

  it('returns the enabled upstreams as the pool, in the order in which they are tried', async () => {
    await create({ name: 'second' });
    await create({ name: 'off', priority: 1, enabled: false });
    const first = { base_url: 'https://api.anthropic.com', api_key: 'sk-ant-0123456789' };
    const { id } = await create({ name: 'first', priority: 1, ...first });
    const pool = await service().findPool(owner.organizationId);
    expect(pool.map(({ name }) => name)).toEqual(['first', 'second']);
    expect(pool[0]).toEqual({
      ...{ id, name: 'first', baseUrl: first.base_url, provider: 'anthropic', apiKey: first.api_key },
      ...{ organizationId: owner.organizationId, failoverOn: [], rules: null },
    });
  });
});

describe('the address of an upstream', () => {
  const REJECTED = [
    ...[
      'http://127.0.0.1:11434/v1',
      'http://127.1',
      'http://2130706433',
      'http://0177.0.0.1',
      'http://0x7f.1',
    ],
    ...['http://10.0.0.1', 'http://172.16.0.1', 'http://192.168.1.1', 'http://100.64.0.1'],
    ...['http://[::1]', 'http://[fd00::1]', 'http://[::ffff:10.0.0.1]', 'http://[2002:7f00:1::]'],
    ...['http://localhost', 'http://localhost.', 'http://LOCALHOST:80', 'http://api.localhost'],
    ...['https://inside.example', 'https://mixed.example'],
  ];
  const ALWAYS_REJECTED = [
    ...[
      'http://169.254.169.254/latest/meta-data',
      'http://metadata.google.internal',
      'http://100.100.100.200',
    ],
    ...['http://[fd00:ec2::254]', 'http://0.0.0.0', 'http://0', 'http://[::]', 'http://224.0.0.1'],
    ...['http://[fe80::1]', 'http://[64:ff9b::a9fe:a9fe]', 'http://[::ffff:169.254.169.254]'],
  ];

  it.each([...REJECTED, ...ALWAYS_REJECTED])('is rejected for %s', async (base_url) => {
    const { admin } = await personalOwner(app);
    const { body } = await admin
      .post('/me/upstreams')
      .send({ ...OPENAI, base_url })
      .expect(400);
    expect(body).toEqual(typed('invalid_base_url'));
    await admin.get('/me/upstreams').expect(200, { upstreams: [] });
  });

  it.each(REJECTED)('is accepted for %s if private networks are allowed', async (base_url) => {
    const { admin } = await personalOwner(local);
    await admin
      .post('/me/upstreams')
      .send({ ...OPENAI, base_url })
      .expect(201);
  });

  it.each(ALWAYS_REJECTED)('is always rejected for %s', async (base_url) => {
    const { admin } = await personalOwner(local);
    const { body } = await admin
      .post('/me/upstreams')
      .send({ ...OPENAI, base_url })
      .expect(400);
    expect(body).toEqual(typed('invalid_base_url'));
  });

  it('is accepted for a name that does not resolve yet', async () => {
    const { admin } = await personalOwner(app);
    await admin
      .post('/me/upstreams')
      .send({ ...OPENAI, base_url: 'https://later.example' })
      .expect(201);
  });

  it('is checked on every connection, too', async () => {
    const { admin } = await personalOwner(app);
    const upstream = await startUpstream();
    const base_url = `http://rebinding.example:${upstream.port}`;
    const { body } = await admin
      .post('/me/upstreams')
      .send({ ...OPENAI, base_url })
      .expect(201);
    hosts['rebinding.example'] = ['127.0.0.1'];
    const { body: result } = await admin.post(`/me/upstreams/${body.id}/test`).expect(200);
    expect(result).toMatchObject({ ok: false, status: null });
    expect(result.message).toContain('private network');
    expect(upstream.requests).toEqual([]);
    await upstream.close();
  });
});

describe.each(OWNER_KINDS)('the test of an upstream of %s', (_kind, makeOwner) => {
  it('requests its model list, enabled or not, and needs no body', async () => {
    const owner = await makeOwner(local);
    const url = `${owner.base}/upstreams`;
    const upstream = await startUpstream();
    const place = { base_url: `${upstream.url}/v1`, enabled: false };
    const { body } = await owner.admin
      .post(url)
      .send({ ...OPENAI, ...place })
      .expect(201);
    const { body: result } = await owner.admin.post(`${url}/${body.id}/test`).expect(200);
    expect(result).toEqual({
      ok: true,
      status: 200,
      latency_ms: expect.any(Number),
      message: 'the upstream works',
    });
    expect(upstream.requests).toMatchObject([
      { method: 'GET', url: '/v1/models', headers: { authorization: `Bearer ${API_KEY}` } },
    ]);
    await upstream.close();
    const { body: failure } = await owner.admin.post(`${url}/${body.id}/test`).expect(200);
    expect(failure).toMatchObject({
      ok: false,
      status: null,
      message: 'the upstream refuses the connection',
    });
  });
});

describe('upstreams of a team', () => {
  let team: TestOwner;
  let url: string;

  beforeEach(async () => {
    team = await teamOwner(app);
    url = `${team.base}/upstreams`;
  });

  it('are for admins only, reading included', async () => {
    const { body } = await team.admin.post(url).send(OPENAI).expect(201);
    const member = await join(app, team, `member-of-${team.organizationId}`, 'member');
    for (const [request, what] of [
      [member.get(url), 'list upstreams'],
      [member.post(url).send('not even JSON'), 'create upstreams'],
      [member.get(`${url}/${body.id}`), 'read upstreams'],
      [member.put(`${url}/${body.id}`).send({ enabled: false }), 'update upstreams'],
      [member.delete(`${url}/${body.id}`), 'delete upstreams'],
      [member.post(`${url}/${body.id}/test`), 'test upstreams'],
      [member.get(`${url}/999999`), 'read upstreams'],
    ] as const) {
      await request.expect(403, { error: { message: `only admins can ${what}` } });
    }
    await team.admin.get(url).expect(200, { upstreams: [body] });
  });

  it('are deleted with it, and an event invalidates cached pools', async () => {
    await team.admin.post(url).send(OPENAI).expect(201);
    const told: number[] = [];
    app.app.get(Transactions).on(UpstreamsChanged, ({ organizationId }) => {
      told.push(organizationId);
      return Promise.resolve();
    });
    await team.admin.delete(team.base).expect(200);
    expect(told).toEqual([team.organizationId]);
    expect(await service().findPool(team.organizationId)).toEqual([]);
    const rows = await app.database.query('SELECT 1 FROM upstreams WHERE organization_id = $1', [
      team.organizationId,
    ]);
    expect(rows).toEqual([]);
  });

  it('do not deadlock with its deletion', async () => {
    for (let round = 0; round < 10; round++) {
      const doomed = await teamOwner(app);
      const address = `${doomed.base}/upstreams`;
      const ids: number[] = [];
      for (const name of ['a', 'b', 'c', 'd']) {
        ids.push(
          (
            await doomed.admin
              .post(address)
              .send({ ...OPENAI, name })
              .expect(201)
          ).body.id,
        );
      }
      const [deletion, ...others] = await Promise.all([
        doomed.admin.delete(doomed.base),
        doomed.admin.post(address).send(OPENAI),
        doomed.admin.put(`${address}/${ids[3]}`).send({ priority: 1 }),
        doomed.admin.put(`${address}/${ids[1]}`).send({ api_key: 'another-key' }),
        doomed.admin.delete(`${address}/${ids[0]}`),
      ]);
      expect(deletion.status).toBe(200);
      for (const { status } of others) expect([200, 201, 204, 404]).toContain(status);
      expect(
        await app.database.query('SELECT 1 FROM upstreams WHERE organization_id = $1', [
          doomed.organizationId,
        ]),
      ).toEqual([]);
    }
  });
});

describe('API keys', () => {
  const keyOf = (byte: number) => Buffer.alloc(32, byte).toString('base64');

  it('appear in no response, in no log line and not in plain text in the database', async () => {
    const logged: unknown[] = [];
    const log = (...line: unknown[]) => void logged.push(line);
    local.app.useLogger({ log, error: log, warn: log, debug: log, verbose: log });
    await local.database.query(`ALTER TABLE upstreams ADD CONSTRAINT broken CHECK (name <> 'broken')`);
    const owner = await teamOwner(local);
    const url = `${owner.base}/upstreams`;
    const upstream = await startUpstream(({ headers }, response) => {
      response.writeHead(401, { 'X-Echo': headers.authorization! }).end(headers.authorization);
    });
    const secrets = ['sk-first-secret-0123456789', 'sk-second-secret-0123456789'];
    const [api_key, another] = secrets;
    const place = { name: 'echo', base_url: upstream.url };
    const created = await owner.admin.post(url).send({ ...place, api_key });
    const one = `${url}/${created.body.id}`;
    const answers = [
      created,
      await owner.admin
        .post(url)
        .send({ ...place, api_key })
        .expect(409),
      await owner.admin
        .post(url)
        .send({ ...place, name: '', api_key })
        .expect(400),
      await owner.admin
        .post(url)
        .send({ ...place, name: 'broken', api_key })
        .expect(500),
      await owner.admin.put(one).send({ name: 'broken', api_key: another }).expect(500),
      await owner.admin.put(one).send({ api_key: another }).expect(200),
      await owner.admin
        .put(one)
        .send({ api_key: `${another} ` })
        .expect(400),
      await owner.admin.post(`${one}/test`).expect(200),
      await owner.admin.get(one).expect(200),
      await owner.admin.get(url).expect(200),
      await owner.admin.get(`${owner.base}/audit`).expect(200),
    ];
    await upstream.close();
    const told = answers.map(({ text, headers }) => text + JSON.stringify(headers)).join('\n');
    const lines = inspect(logged, { depth: Infinity, maxStringLength: Infinity, maxArrayLength: Infinity });
    expect(lines).toContain('unexpected failure');
    for (const secret of secrets) {
      expect(told).not.toContain(secret.slice(0, -4));
      expect(lines).not.toContain(secret.slice(0, -4));
    }
    const rows = await local.database.query<{ row: string }>(
      `SELECT u::text AS row FROM upstreams u UNION ALL SELECT e::text FROM audit_events e`,
    );
    expect(rows.length).toBeGreaterThan(0);
    const stored = rows.map(({ row }) => row).join('\n');
    for (const secret of secrets) {
      expect(stored).not.toContain(secret.slice(0, -4));
      expect(stored).not.toContain(Buffer.from(secret).toString('hex').slice(0, -8));
    }
  });

  it.each(['another owner', 'the same owner'])('cannot be decrypted in another row of %s', async (whose) => {
    const other = await personalOwner(app);
    const one = whose === 'the same owner' ? other : await personalOwner(app);
    const usable = async () => (await service().findPool(other.organizationId)).map(({ id }) => id);
    const { body: mine } = await one.admin.post('/me/upstreams').send(OPENAI).expect(201);
    const copy = { ...OPENAI, name: 'Copy' };
    const { body: theirs } = await other.admin.post('/me/upstreams').send(copy).expect(201);
    await app.database.query(
      `UPDATE upstreams SET api_key_encrypted = (SELECT api_key_encrypted FROM upstreams WHERE id = $1)
       WHERE id = $2`,
      [mine.id, theirs.id],
    );
    expect(await usable()).not.toContain(theirs.id);
    const { body } = await other.admin.post(`/me/upstreams/${theirs.id}/test`).expect(200);
    expect(body).toMatchObject({
      ok: false,
      status: null,
      message: expect.stringContaining('cannot be decrypted'),
    });
    await other.admin.put(`/me/upstreams/${theirs.id}`).send({ api_key: API_KEY }).expect(200);
    expect(await usable()).toContain(theirs.id);
  });

  it('cannot be decrypted if their row moves to another owner', async () => {
    const [one, other] = [await personalOwner(app), await personalOwner(app)];
    const { body } = await one.admin.post('/me/upstreams').send(OPENAI).expect(201);
    await app.database.query('UPDATE upstreams SET organization_id = $1 WHERE id = $2', [
      other.organizationId,
      body.id,
    ]);
    expect(await service().findPool(other.organizationId)).toEqual([]);
  });

  describe('encrypted with a key that is rotated', () => {
    /** Keeps its encryption key, ... */
    let app: TestApp;
    /** ... while this one, on the same database, is started again with others. */
    let replica: TestApp;
    let owner: TestOwner;

    beforeEach(async () => {
      app = await startApp({ ENCRYPTION_KEYS: keyOf(1) });
      replica = await startApp({ ENCRYPTION_KEYS: keyOf(1) }, app);
      owner = await personalOwner(app);
    });
    afterEach(async () => {
      await replica.close();
      await app.close();
    });

    async function restart(...keys: string[]): Promise<UpstreamsService> {
      await replica.close();
      replica = await startApp({ ENCRYPTION_KEYS: keys.join(',') }, app);
      return replica.app.get(UpstreamsService);
    }

    const keysIn = async (upstreams: UpstreamsService) =>
      (await upstreams.findPool(owner.organizationId)).map(({ apiKey }) => apiKey);

    async function createMany(count: number, { admin } = owner): Promise<string[]> {
      const keys = Array.from({ length: count }, (_, i) => `api-key-${i}`);
      for (const [i, api_key] of keys.entries()) {
        const upstream = { name: `upstream ${i}`, base_url: 'https://93.184.216.34', api_key };
        await admin.post('/me/upstreams').send(upstream).expect(201);
      }
      return keys;
    }

    it('can be decrypted with the old key, and after re-encryption without it', async () => {
      const keys = await createMany(100);
      await createMany(5, await personalOwner(app)); // together more than a batch
      const { body: before } = await owner.admin.get('/me/upstreams');
      let upstreams = await restart(keyOf(2), keyOf(1));
      expect(await keysIn(upstreams)).toEqual(keys);
      expect(await upstreams.reencrypt()).toBe(105);
      expect(await upstreams.reencrypt()).toBe(0);
      upstreams = await restart(keyOf(2));
      expect(await keysIn(upstreams)).toEqual(keys);
      await owner.admin.get('/me/upstreams').expect(200, before); // updated_at did not move
      upstreams = await restart(keyOf(1));
      expect(await keysIn(upstreams)).toEqual([]);
    });

    it('are re-encrypted as far as possible, and lost ones are reported by id', async () => {
      const keys = await createMany(3);
      const [lost] = await app.database.query<{ id: number }>(
        `UPDATE upstreams SET api_key_encrypted = decode(repeat('00', 64), 'hex')
         WHERE name = 'upstream 1' RETURNING id::int`,
      );
      const upstreams = await restart(keyOf(2), keyOf(1));
      await expect(upstreams.reencrypt()).rejects.toThrow(`upstreams ${lost!.id}`);
      expect(await keysIn(await restart(keyOf(2)))).toEqual([keys[0], keys[2]]);
    });

    it('are re-encrypted without blocking others while a row is locked', async () => {
      await createMany(2);
      const upstreams = await restart(keyOf(2), keyOf(1));
      const holder = await connect(app.database);
      try {
        await holder.query('BEGIN');
        await holder.query('SELECT 1 FROM upstreams FOR UPDATE');
        const reencrypted = upstreams.reencrypt();
        await lockedOut(app.database, 1);
        await nobodyLockedOut(app.database);
        await holder.query('COMMIT');
        expect(await reencrypted).toBe(2);
      } finally {
        await holder.end();
      }
    });

    it('may change during re-encryption', async () => {
      await createMany(20);
      const upstreams = await restart(keyOf(2), keyOf(1));
      const { body } = await owner.admin.get('/me/upstreams');
      const ids: number[] = body.upstreams.map(({ id }: { id: number }) => id);
      const agent = await replica.as(owner.user);
      await Promise.all([
        upstreams.reencrypt(),
        upstreams.reencrypt(),
        ...ids.map((id) =>
          agent
            .put(`/me/upstreams/${id}`)
            .send({ api_key: `changed-key-${id}` })
            .expect(200),
        ),
      ]);
      const expected = ids.map((id) => `changed-key-${id}`);
      expect(await keysIn(await restart(keyOf(2)))).toEqual(expected);
    });
  });
});
