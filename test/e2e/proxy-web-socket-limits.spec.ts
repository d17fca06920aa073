import { jest } from '@jest/globals';
import type { WebSocket } from 'ws';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import type { TestOwner } from '../support/owners.js';
import { inParallel } from '../support/parallel.js';
import { call, ownerWith } from '../support/proxy-client.js';
import { recordOf } from '../support/recorded.js';
import { undisturbed } from '../support/standstill.js';
import { openSocket, rejectedSocket } from '../support/web-socket-client.js';
import { startWebSocketUpstream } from '../support/web-socket-upstream.js';
import type { WebSocketUpstream } from '../support/web-socket-upstream.js';

let app: TestApp;
let replica: TestApp;
/** Replica with frequent heartbeats. */
let impatient: TestApp;
let upstream: WebSocketUpstream;

beforeAll(async () => {
  app = await startApp({ UPSTREAM_PRIVATE_NETWORKS: 'allow' });
  replica = await startApp({ UPSTREAM_PRIVATE_NETWORKS: 'allow' }, app);
  impatient = await startApp({ UPSTREAM_PRIVATE_NETWORKS: 'allow', UPSTREAM_IDLE_TIMEOUT_MS: '2000' }, app);
  upstream = await startWebSocketUpstream();
});
afterAll(async () => {
  await impatient.close();
  await replica.close();
  await app.close();
  await upstream.close();
});

beforeEach(() => {
  upstream.respond = respond;
  upstream.delay = undefined;
});

const HOUR_MS = 3_600_000;
const CREATE = '{"type":"response.create"}';
const USAGE = { input_tokens: 1_000_000, output_tokens: 0, total_tokens: 1_000_000 };

/** Responds to each message with a response of a million tokens. */
function respond(_message: string, socket: WebSocket): void {
  socket.send('{"type":"response.created","response":{}}');
  socket.send(JSON.stringify({ type: 'response.done', response: { usage: USAGE } }));
}

/** Message with many different models. */
const manyModels = () => JSON.stringify(Array.from({ length: 40 }, (_, i) => ({ model: `gpt-5-${i}` })));

interface Pool {
  readonly owner: TestOwner;
  readonly key: string;
  readonly id: number;
}

/** A user with a key that has these limits. */
async function limited(limits: object = {}): Promise<Pool> {
  const { owner, key } = await ownerWith(app, upstream.url);
  const { body } = await owner.admin.get('/me/keys').expect(200);
  const { id } = body.keys[0] as { id: number };
  await owner.admin.put(`/me/keys/${id}/limits`).send(limits).expect(200);
  return { owner, key, id };
}

describe('the key of open WebSockets', () => {
  it('closes them on all replicas when it is revoked, and records them', async () => {
    const { owner, key, id } = await limited();
    const open = await inParallel(20, (i) => openSocket(i % 2 ? app : replica, key));
    await owner.admin.delete(`/me/keys/${id}`).expect(204);
    for (const { closed } of open) expect(await closed).toEqual([1_008, 'invalid_proxy_key']);
    await eventually(() => expect(upstream.sockets.every(({ readyState }) => readyState === 3)).toBe(true));
    const record = await recordOf(owner, open[0]!.response.headers['x-request-id'] as string);
    expect(record).toMatchObject({ status: 101, outcome: 'ok' });
  });

  it('is checked again if it is revoked during the handshake', async () => {
    const { owner, key, id } = await limited();
    const count = upstream.handshakes.length;
    let accept: (value?: unknown) => void;
    upstream.delay = new Promise((resolve) => (accept = resolve));
    const opening = openSocket(app, key);
    await eventually(() => expect(upstream.handshakes).toHaveLength(count + 1));
    await owner.admin.delete(`/me/keys/${id}`).expect(204);
    accept!();
    upstream.delay = undefined;
    expect(await (await opening).closed).toEqual([1_008, 'invalid_proxy_key']);
  });

  it('closes them when it expires', async () => {
    const { owner } = await limited();
    const expiring = { organization_id: owner.organizationId, expires_at: new Date(Date.now() + HOUR_MS) };
    const { body } = await owner.admin.post('/me/keys').send(expiring).expect(201);
    const { closed } = await openSocket(app, body.api_key as string);
    const now = Date.now.bind(Date);
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + HOUR_MS);
    try {
      expect(await closed).toEqual([1_008, 'invalid_proxy_key']);
    } finally {
      clock.mockRestore();
    }
  });
});

describe('a limit of models', () => {
  it('rejects the handshake for another model', async () => {
    const { key } = await limited({ models: ['gpt-realtime'] });
    const { status, body } = await rejectedSocket(app, key, { path: '/v1/realtime?model=gpt-4o' });
    expect([status, JSON.parse(body).error.code]).toEqual([403, 'model_not_allowed']);
    const twice = await rejectedSocket(app, key, { path: '/v1/realtime?model=gpt-realtime&model=gpt-4o' });
    expect([twice.status, JSON.parse(twice.body).error.code]).toEqual([400, 'invalid_request']);
  });

  it.each([
    ['names another model', '{"type":"response.create","model":"gpt-4o"}', 'model_not_allowed'],
    ['names no model', CREATE, 'model_not_allowed'],
    [
      'names another model in a session',
      '{"type":"x","session":{"a":{"model" : "gpt-4o"}}}',
      'model_not_allowed',
    ],
    ['names two models', '{"type":"x","model":"gpt-4o","model":"gpt-5"}', 'model_not_allowed'],
    ['hides the name of a member', String.raw`{"type":"x","\u006dodel":"gpt-4o"}`, 'invalid_request'],
    ['has a name that is not JSON', '{"type":"x","model":"a\tb"}', 'invalid_request'],
    ['is not a JSON object', '["response.create"]', 'invalid_request'],
    ['escapes its type', String.raw`{"type":"response\u002ecreate"}`, 'model_not_allowed'],
    [
      'names the model of its metadata only',
      '{"type":"response.create","metadata":{"model":"gpt-5"}}',
      'model_not_allowed',
    ],
    ['names many models', manyModels(), 'invalid_request'],
  ])('closes a WebSocket when a message %s', async (_description, message, reason) => {
    const { key } = await limited({ models: ['gpt-5'] });
    const { socket, closed } = await openSocket(app, key, { path: '/v1/responses' });
    const count = upstream.messages.length;
    socket.send(message);
    expect(await closed).toEqual([1_008, reason]);
    expect(upstream.messages).toHaveLength(count);
  });

  it('takes the model in the query for the Realtime API only', async () => {
    const { key } = await limited({ models: ['gpt-5'] });
    const { socket, closed } = await openSocket(app, key, { path: '/v1/responses?model=gpt-5' });
    socket.send('{"type":"response.create","prompt":{"id":"pmpt_1"}}');
    expect(await closed).toEqual([1_008, 'model_not_allowed']);
  });

  it.each([
    ['names no model', '/v1/realtime?deployment=gpt-4o', {}, [1_008, 'model_not_allowed']],
    ['names another model', '/v1/responses', { model: 'gpt-4o' }, [1_008, 'model_not_allowed']],
    ['names an allowed model', '/v1/responses', { model: 'gpt-5' }, [1_000, '']],
  ])('decides on a response of the upstream that %s', async (_description, path, response, expected) => {
    const { key } = await limited({ models: ['gpt-5'] });
    const connection = await openSocket(app, key, { path });
    upstream.sockets.at(-1)!.send(JSON.stringify({ type: 'response.created', response }));
    await eventually(() => expect(connection.messages).toHaveLength(1));
    upstream.sockets.at(-1)!.send('{"type":"response.done"}', () => upstream.sockets.at(-1)!.close(1_000));
    expect(await connection.closed).toEqual(expected);
  });

  it('closes a WebSocket when a message is binary', async () => {
    const { key } = await limited({ models: ['gpt-5'] });
    const { socket, closed } = await openSocket(app, key, { path: '/v1/responses' });
    socket.send(Buffer.from(CREATE));
    expect((await closed)[0]).toBe(1_003);
  });

  it('passes messages with allowed models, whatever their contents', async () => {
    const { key } = await limited({ models: ['gpt-5'] });
    const connection = await openSocket(app, key, { path: '/v1/responses' });
    const input = String.raw`say "model": "gpt-4o" and \u006d`;
    const message = JSON.stringify({ type: 'response.create', model: 'gpt-5', input });
    connection.socket.send(message);
    await eventually(() => expect(connection.messages).toHaveLength(2));
    expect(upstream.messages.at(-1)).toBe(message);
    connection.socket.close();
    await connection.closed;
  });
});

describe('the limits of a key', () => {
  it('count every response of a WebSocket like a request', async () => {
    const { key } = await limited({ requests_per_minute: 3 });
    const { socket, messages, response, closed } = await openSocket(app, key);
    expect(response.headers).toMatchObject({ 'x-ratelimit-remaining-requests': '2' });
    for (let i = 1; i <= 3; i++) {
      socket.send(CREATE);
      await eventually(() => expect(messages).toHaveLength(2 * i));
    }
    socket.send(CREATE);
    expect(await closed).toEqual([1_008, 'rate_limited']);
    expect((await rejectedSocket(app, key)).status).toBe(429);
  });

  it('count a response of which the upstream sends only the end', async () => {
    const { key } = await limited({ requests_per_minute: 2 });
    const { socket, messages, closed } = await openSocket(app, key);
    upstream.respond = (_message, accepted) => accepted.send('{"type":"response.done","response":{}}');
    for (let i = 1; i <= 2; i++) {
      socket.send(CREATE);
      await eventually(() => expect(messages).toHaveLength(i));
    }
    socket.send(CREATE);
    expect(await closed).toEqual([1_008, 'rate_limited']);
  });

  it('count every response of a WebSocket like a request if they are the operator’s', async () => {
    const { key } = await limited();
    const strict = await startApp(
      { UPSTREAM_PRIVATE_NETWORKS: 'allow', PROXY_REQUESTS_PER_MINUTE: '2' },
      app,
    );
    const { socket, messages, closed } = await openSocket(strict, key);
    for (let i = 1; i <= 2; i++) {
      socket.send(CREATE);
      await eventually(() => expect(messages).toHaveLength(2 * i));
    }
    socket.send(CREATE);
    expect(await closed).toEqual([1_008, 'rate_limited']);
    await strict.close();
  });

  it('count tokens and costs of a WebSocket while it is open', async () => {
    const { owner, key, id } = await limited({ budget: { usd: 1, period: 'total' } });
    const prices = [{ model: 'gpt-realtime', input: 0.6, output: 0 }];
    await owner.admin.put('/me/prices').send({ prices }).expect(200);
    const connection = await openSocket(app, key);
    connection.socket.send(CREATE);
    await eventually(() => expect(connection.messages).toHaveLength(2));
    connection.socket.send(CREATE);
    await eventually(() => expect(connection.messages).toHaveLength(4));
    const reply = await call(app, key, { body: '{"model":"gpt-realtime"}' });
    expect([reply.status, JSON.parse(reply.text).error.code]).toEqual([429, 'budget_exceeded']);
    const count = upstream.messages.length;
    connection.socket.send(CREATE);
    expect(await connection.closed).toEqual([1_008, 'budget_exceeded']);
    expect(upstream.messages).toHaveLength(count);
    const record = await recordOf(owner, connection.response.headers['x-request-id'] as string);
    expect(record).toMatchObject({ outcome: 'ok', cost_usd: 1.2, price_source: 'own' });
    await eventually(async () => {
      const { body } = await owner.admin.get(`/me/keys/${id}/limits`).expect(200);
      expect(body.status.budget.spent_usd).toBe(record.cost_usd);
    });
  });

  it('apply to open WebSockets when they are changed', async () => {
    const { owner, key, id } = await limited();
    const { socket, closed } = await openSocket(app, key, { path: '/v1/responses' });
    await owner.admin
      .put(`/me/keys/${id}/limits`)
      .send({ models: ['gpt-5'] })
      .expect(200);
    await eventually(() => {
      socket.send(CREATE);
      expect(socket.readyState).not.toBe(1);
    });
    expect(await closed).toEqual([1_008, 'model_not_allowed']);
  });
});

it('replaces the model by the name of the upstream', async () => {
  const { owner, key } = await limited();
  const { body } = await owner.admin.get('/me/upstreams').expect(200);
  const models = [{ model: 'voice', as: 'gpt-realtime-mini' }];
  await owner.admin.put(`/me/upstreams/${body.upstreams[0].id}`).send({ models }).expect(200);
  const { socket, response, closed } = await openSocket(app, key, { path: '/v1/realtime?a=1&model=voice' });
  expect(upstream.handshakes.at(-1)!.url).toBe('/v1/realtime?a=1&model=gpt-realtime-mini');
  socket.close();
  await closed;
  const record = await recordOf(owner, response.headers['x-request-id'] as string);
  expect(record).toMatchObject({ model: 'voice', upstream_model: 'gpt-realtime-mini' });
  const other = await rejectedSocket(app, key, { path: '/v1/realtime?model=unknown' });
  expect([other.status, JSON.parse(other.body).error.code]).toEqual([404, 'model_not_found']);
});

it.each([
  ['an unknown model', 'gpt-4o', [1_008, 'model_not_found']],
  ['a model with another name at the upstream', 'fast', [1_008, 'model_not_found']],
  ['a model of the upstream', 'gpt-5', undefined],
])('applies the rules of the upstream to %s in a message', async (_description, model, expected) => {
  const { owner, key } = await limited();
  const { body } = await owner.admin.get('/me/upstreams').expect(200);
  const models = [{ model: 'fast', as: 'gpt-5-mini' }, { model: 'gpt-5' }];
  await owner.admin.put(`/me/upstreams/${body.upstreams[0].id}`).send({ models }).expect(200);
  const { socket, messages, closed } = await openSocket(app, key, { path: '/v1/responses' });
  const count = upstream.messages.length;
  socket.send(JSON.stringify({ type: 'response.create', model }));
  if (expected) expect(await closed).toEqual(expected);
  else await eventually(() => expect(messages).toHaveLength(2));
  expect(upstream.messages).toHaveLength(expected ? count : count + 1);
  socket.close();
  await closed;
});

describe('a heartbeat', () => {
  it('disconnects a client that does not respond', async () => {
    const { owner, key } = await limited();
    const { response, closed } = await openSocket(impatient, key, { autoPong: false });
    expect((await closed)[0]).toBe(1_006);
    const record = await recordOf(owner, response.headers['x-request-id'] as string);
    expect(record).toMatchObject({ status: 101, outcome: 'ok' });
  });

  it('disconnects an upstream that does not respond, but not one that does', () =>
    undisturbed(async () => {
      const silent = await startWebSocketUpstream(false);
      try {
        const [{ key }, other] = [await ownerWith(app, silent.url), await limited()];
        const living = await openSocket(impatient, other.key);
        const { closed } = await openSocket(impatient, key);
        expect((await closed)[0]).toBe(1_014);
        expect(living.socket.readyState).toBe(1);
        living.socket.close();
        await living.closed;
      } finally {
        await silent.close();
      }
    }));
});

it('is closed and recorded when the service stops', async () => {
  const { owner, key } = await limited();
  const stopping = await startApp({ UPSTREAM_PRIVATE_NETWORKS: 'allow' }, app);
  const open = await inParallel(10, () => openSocket(stopping, key));
  await stopping.app.close();
  for (const { closed } of open) expect(await closed).toEqual([1_001, 'the service restarts']);
  const record = await recordOf(owner, open[9]!.response.headers['x-request-id'] as string);
  expect(record).toMatchObject({ status: 101, outcome: 'ok' });
});

it('is closed after the response that runs when the service stops', async () => {
  const { owner, key } = await limited();
  const stopping = await startApp({ UPSTREAM_PRIVATE_NETWORKS: 'allow' }, app);
  const connection = await openSocket(stopping, key);
  const accepted = upstream.sockets.at(-1)!;
  accepted.send('{"type":"response.created","response":{}}');
  await eventually(() => expect(connection.messages).toHaveLength(1));
  const stopped = stopping.app.close();
  await eventually(async () =>
    expect((await openSocket(stopping, key).catch(() => undefined)) ?? null).toBeNull(),
  );
  const count = upstream.messages.length;
  connection.socket.send(CREATE);
  connection.socket.send('{"type":"x"}');
  await eventually(() => expect(upstream.messages.slice(count)).toEqual(['{"type":"x"}']));
  accepted.send('{"type":"response.done","response":{}}');
  expect(await connection.closed).toEqual([1_001, 'the service restarts']);
  expect(String(connection.messages.at(-1))).toContain('response.done');
  await stopped;
  const record = await recordOf(owner, connection.response.headers['x-request-id'] as string);
  expect(record).toMatchObject({ status: 101, outcome: 'ok' });
});
