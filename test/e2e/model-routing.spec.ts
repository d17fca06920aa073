import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { personalOwner } from '../support/owners.js';
import type { TestOwner } from '../support/owners.js';
import { call, fillPool, mintKey } from '../support/proxy-client.js';
import type { Call, PoolEntry, Reply } from '../support/proxy-client.js';
import { respondWith, startRawUpstream } from '../support/raw-upstream.js';
import type { RawUpstream } from '../support/raw-upstream.js';
import { callRecorded } from '../support/recorded.js';

let app: TestApp;
let upstreams: RawUpstream[];
let owner: TestOwner;
let key: string;

beforeAll(async () => {
  app = await startApp({ UPSTREAM_PRIVATE_NETWORKS: 'allow' });
});
afterAll(() => app.close());
beforeEach(async () => {
  upstreams = [];
  owner = await personalOwner(app);
  key = await mintKey(owner);
});
afterEach(() => Promise.all(upstreams.map((upstream) => upstream.close())));

type Rules = readonly { readonly model: string; readonly as?: string }[] | null;
type Entry = Partial<PoolEntry> & { readonly models?: Rules; readonly failover_on?: readonly number[] };

/** Adds upstreams that respond with their own number. */
async function pool(...entries: Entry[]): Promise<void> {
  for (const entry of entries) {
    const upstream = await startRawUpstream(respondWith(`{"from":${upstreams.length}}`));
    upstreams.push(upstream);
    await fillPool(owner, { url: upstream.url, provider: 'openai', ...entry });
  }
}

const chat = (model: string): Call => ({ body: JSON.stringify({ model, messages: [] }) });
const send = (options: Call): Promise<Reply> => call(app, key, options);
const fromOf = ({ text }: Reply) => (JSON.parse(text) as { from: number }).from;
const errorOf = ({ text }: Reply) => (JSON.parse(text) as { error: Record<string, unknown> }).error;
const sentTo = (index: number) => upstreams[index]!.requests.at(-1)!;

describe('a request with a model', () => {
  it('goes to the upstreams that serve the model, in the order of the pool', async () => {
    await pool({ models: [{ model: 'claude-*' }] }, { models: [{ model: 'gpt-*' }] }, {});
    expect(fromOf(await send(chat('claude-5')))).toBe(0);
    expect(fromOf(await send(chat('gpt-5')))).toBe(1);
    expect(fromOf(await send(chat('other')))).toBe(2);
    expect(fromOf(await send({ body: '{}' }))).toBe(0);
    expect(fromOf(await send({ body: 'no json' }))).toBe(0);
  });

  it('fails over only to upstreams that serve the model', async () => {
    await pool({ models: [{ model: 'a' }] }, { models: [{ model: 'b' }] }, { models: [{ model: 'a' }] });
    upstreams[0]!.respond = respondWith('{}', { status: 503 });
    expect(fromOf(await send(chat('a')))).toBe(2);
    expect(upstreams[1]!.requests).toHaveLength(0);
  });

  it('is rejected if no upstream serves the model', async () => {
    await pool({ models: [{ model: 'a' }] });
    const { reply, record } = await callRecorded(app, owner, key, chat('b\u0007'.repeat(300)));
    expect([reply.status, reply.headers['x-should-retry']]).toEqual([404, 'false']);
    expect(errorOf(reply)).toEqual({
      type: 'not_found_error',
      code: 'model_not_found',
      message: expect.stringMatching(/^[ -~]*b{200}$/),
      param: null,
    });
    expect(record).toMatchObject({ status: 404, outcome: 'client_error', attempts: [], cost_usd: 0 });
  });

  it('follows a change of the rules at once', async () => {
    await pool({ models: [{ model: 'a' }] });
    expect((await send(chat('b'))).status).toBe(404);
    const { body } = await owner.admin.get('/me/upstreams').expect(200);
    const [{ id }] = body.upstreams;
    await owner.admin.put(`/me/upstreams/${id}`).send({ name: 'same rules' }).expect(200);
    expect((await send(chat('b'))).status).toBe(404);
    await owner.admin.put(`/me/upstreams/${id}`).send({ models: null }).expect(200);
    expect((await send(chat('b'))).status).toBe(200);
  });
});

describe('a rule with `as`', () => {
  it('changes the model and no other byte', async () => {
    await pool({ models: [{ model: 'openai/*', as: '*' }] });
    const body =
      ' { "x": 1.0, "mod\\u0065l" : "openai\\/gpt-5" ,"model2":"openai/x","y":{"model":"openai/z"}}\n';
    const { record } = await callRecorded(app, owner, key, { body });
    expect(sentTo(0).body.toString()).toBe(body.replace('"openai\\/gpt-5"', '"gpt-5"'));
    expect(record).toMatchObject({ model: 'openai/gpt-5', upstream_model: 'gpt-5' });
  });

  it('changes no byte if the name is the same', async () => {
    await pool({ models: [{ model: 'm', as: 'm' }] });
    const { record } = await callRecorded(app, owner, key, { body: '{"model":"\\u006d"}' });
    expect(sentTo(0).body.toString()).toBe('{"model":"\\u006d"}');
    expect(record).toMatchObject({ model: 'm', upstream_model: null });
  });

  it('applies to the attempt at its upstream, together with the usage option', async () => {
    await pool(
      { models: [{ model: 'fast', as: 'größe "1"' }] },
      { models: [{ model: 'fast', as: 'two' }], provider: 'mistral' },
      { models: [{ model: '*' }] },
    );
    for (const upstream of upstreams.slice(0, 2)) upstream.respond = respondWith('{}', { status: 500 });
    const body = '{"stream":true,"model":"fast","messages":[]}';
    await send({ body });
    const option = '"stream_options":{"include_usage":true},';
    expect(sentTo(0).body.toString()).toBe(`{${option}"stream":true,"model":"größe \\"1\\"","messages":[]}`);
    expect(sentTo(1).body.toString()).toBe('{"stream":true,"model":"two","messages":[]}');
    expect(sentTo(2).body.toString()).toBe(`{${option}${body.slice(1)}`);
  });

  it('changes the field of a form', async () => {
    await pool({ models: [{ model: 'whisper', as: 'whisper-1' }] });
    const file = Buffer.from([0, 13, 10, 255]);
    const form = (model: string) =>
      Buffer.concat([
        Buffer.from(`--xyz\r\nContent-Disposition: form-data; name="model"\r\n\r\n${model}\r\n`),
        Buffer.from('--xyz\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n'),
        file,
        Buffer.from('\r\n--xyz--\r\n'),
      ]);
    const headers = { 'content-type': 'multipart/form-data; boundary=xyz' };
    await send({ path: '/v1/audio/transcriptions', headers, body: form('whisper') });
    expect(sentTo(0).body.equals(form('whisper-1'))).toBe(true);
    const { status } = await send({ path: '/v1/audio/transcriptions', headers, body: form('other') });
    expect(status).toBe(404);
  });

  it('changes the path', async () => {
    await pool({ models: [{ model: '*', as: 'openai/*' }] });
    await send({ path: '/v1/models/gpt%205?x=1' });
    expect(sentTo(0).target).toBe('/v1/models/openai%2Fgpt%205?x=1');
  });
});

describe('a body with an unclear model', () => {
  const unclear = [
    '{"model":"a","model":"b"}',
    '{"model":"a","mod\\u0065l":"a"}',
    '{"model":1}',
    '{"model":null}',
  ];

  it.each(unclear)('%s is rejected if an upstream has rules', async (body) => {
    await pool({ models: [{ model: 'a' }] }, {});
    const reply = await send({ body });
    expect([reply.status, errorOf(reply).code]).toEqual([400, 'invalid_request']);
  });

  it('is relayed if no upstream has rules', async () => {
    await pool({});
    for (const body of unclear) expect((await send({ body })).status).toBe(200);
  });

  it('is a form with two fields `model`', async () => {
    await pool({ models: [{ model: 'a' }] });
    const part = '--xyz\r\nContent-Disposition: form-data; name="model"\r\n\r\na\r\n';
    const headers = { 'content-type': 'multipart/form-data; boundary=xyz' };
    expect((await send({ headers, body: `${part}--xyz--` })).status).toBe(200);
    expect((await send({ headers, body: `${part}${part}--xyz--` })).status).toBe(400);
  });
});

describe('failover_on', () => {
  it('lets the next upstream respond instead', async () => {
    await pool({ failover_on: [429] }, {});
    upstreams[0]!.respond = respondWith('{}', { status: 429 });
    const { reply, record } = await callRecorded(app, owner, key, chat('m'));
    expect([reply.status, fromOf(reply)]).toEqual([200, 1]);
    expect(record.attempts).toMatchObject([
      { status: 429, error: 'status' },
      { status: 200, error: null },
    ]);
    upstreams[0]!.respond = respondWith('{"own":1}', { status: 404 });
    expect((await send(chat('m'))).status).toBe(404);
  });

  it('passes the last response through if all upstreams fail', async () => {
    await pool({}, { failover_on: [402, 429] });
    upstreams[0]!.respond = respondWith('{}', { status: 500 });
    upstreams[1]!.respond = respondWith('{"error":"pay"}', { status: 402 });
    const { reply, record } = await callRecorded(app, owner, key, chat('m'));
    expect([reply.status, reply.text]).toEqual([402, '{"error":"pay"}']);
    expect(record).toMatchObject({ status: 402, outcome: 'client_error', cost_usd: 0 });
  });
});

describe('the list of models', () => {
  const list = (...ids: string[]) =>
    respondWith(
      JSON.stringify({ object: 'list', data: ids.map((id) => ({ id, object: 'model', created: 5 })) }),
    );
  const idsOf = ({ text }: Reply) =>
    (JSON.parse(text) as { data: { id: string }[] }).data.map(({ id }) => id);

  it('has the names that clients have to use', async () => {
    await pool(
      { models: [{ model: 'exact', as: 'other' }, { model: 'gpt-*' }] },
      {
        models: [
          { model: 'or/*', as: '*' },
          { model: 'x*', as: 'fixed' },
          { model: '*-*', as: 'y' },
        ],
      },
      { models: [{ model: 'only' }], provider: 'anthropic' },
      {},
    );
    upstreams[0]!.respond = list('gpt-5', 'o3', 'exact');
    upstreams[1]!.respond = list('llama');
    upstreams[3]!.respond = list('mine', 'gpt-5');
    const reply = await send({ path: '/v1/models' });
    expect(idsOf(reply)).toEqual(['exact', 'gpt-5', 'or/llama', 'only', 'mine']);
    expect((JSON.parse(reply.text) as { data: object[] }).data.slice(0, 4)).toEqual([
      { id: 'exact', object: 'model', created: 0, owned_by: 'openai' },
      { id: 'gpt-5', object: 'model', created: 5 },
      { id: 'or/llama', object: 'model', created: 5 },
      { id: 'only', object: 'model', created: 0, owned_by: 'anthropic' },
    ]);
    expect(upstreams[2]!.requests).toHaveLength(0);
  });

  it('needs no upstream if all rules are exact, and knows the format of Anthropic', async () => {
    await pool({ models: [{ model: 'a' }, { model: 'b' }] });
    const headers = { 'anthropic-version': '2023-06-01' };
    const { reply, record } = await callRecorded(app, owner, key, { path: '/v1/models', headers });
    expect((JSON.parse(reply.text) as { data: object[] }).data[0]).toEqual({
      type: 'model',
      id: 'a',
      display_name: 'a',
      created_at: '1970-01-01T00:00:00Z',
    });
    expect(record).toMatchObject({ outcome: 'ok', upstream_id: null, attempts: [], cost_usd: 0 });
    expect(upstreams[0]!.requests).toHaveLength(0);
  });

  it('has the exact rules of an upstream that does not respond', async () => {
    await pool({ models: [{ model: 'a' }, { model: 'b-*' }] });
    upstreams[0]!.respond = respondWith('{}', { status: 500 });
    expect(idsOf(await send({ path: '/v1/models' }))).toEqual(['a']);
  });

  it('has single entries for exact rules, and queries the upstream for others', async () => {
    await pool({ models: [{ model: 'a/b', as: 'c' }, { model: 'gpt-*' }] });
    const reply = await send({ path: '/v1/models/a%2Fb' });
    expect(JSON.parse(reply.text)).toEqual({ id: 'a/b', object: 'model', created: 0, owned_by: 'openai' });
    expect(upstreams[0]!.requests).toHaveLength(0);
    expect(fromOf(await send({ path: '/v1/models/gpt-5' }))).toBe(0);
    expect((await send({ path: '/v1/models/other' })).status).toBe(404);
  });
});

describe('the rules of an upstream', () => {
  const create = (fields: object) =>
    owner.admin.post('/me/upstreams').send({
      name: `u${Math.random()}`,
      base_url: 'https://api.openai.com',
      api_key: 'sk-12345678',
      ...fields,
    });

  it('are part of its responses', async () => {
    const rules = { models: [{ model: 'a*', as: '*' }, { model: 'b' }], failover_on: [429, 404] };
    const { body } = await create(rules).expect(201);
    const shown = {
      models: [
        { model: 'a*', as: '*' },
        { model: 'b', as: null },
      ],
      failover_on: [429, 404],
    };
    expect(body).toMatchObject(shown);
    const { body: put } = await owner.admin.put(`/me/upstreams/${body.id}`).send({ priority: 5 }).expect(200);
    expect(put).toMatchObject(shown);
    const { body: reset } = await owner.admin
      .put(`/me/upstreams/${body.id}`)
      .send({ models: null, failover_on: [] })
      .expect(200);
    expect(reset).toMatchObject({ models: null, failover_on: [] });
    const { body: audit } = await owner.admin
      .get(`/me/organizations/${owner.organizationId}/audit`)
      .expect(200);
    expect(audit.events.slice(0, 3).map(({ details }: { details: object }) => details)).toEqual([
      { models: 'changed', failover_on: [] },
      { priority: 5 },
      expect.objectContaining({ models: '2 rules', failover_on: [429, 404] }),
    ]);
  });

  it.each([
    [{ models: [] }, 'invalid_models'],
    [{ models: {} }, 'invalid_models'],
    [{ models: [{ model: 'a', as: '*' }] }, 'invalid_models'],
    [{ failover_on: [500] }, 'invalid_failover_on'],
    [{ failover_on: 429 }, 'invalid_failover_on'],
  ])('%j are rejected', async (fields, type) => {
    const { body } = await create(fields).expect(400);
    expect(body.error.type).toBe(type);
  });

  it('survive values of any depth', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const body = `{"name":"x","base_url":"https://a.example","api_key":"sk-12345678","models":${deep}}`;
    await owner.admin.post('/me/upstreams').set('Content-Type', 'application/json').send(body).expect(400);
  });

  it('have at most 4 MiB in total', async () => {
    const long = (i: number, j: number) => `${i}-${j}-${'😀'.repeat(240)}`;
    const models = (i: number) =>
      Array.from({ length: 400 }, (_, j) => ({ model: long(i, j), as: long(i, j) }));
    const ids: number[] = [];
    for (let i = 0; i < 5; i++)
      ids.push(((await create({ models: models(i) }).expect(201)).body as { id: number }).id);
    const { body } = await create({ models: models(5) }).expect(409);
    expect(body.error.type).toBe('models_too_long');
    await owner.admin
      .put(`/me/upstreams/${ids[0]}`)
      .send({ models: models(6) })
      .expect(200);
  });
});
