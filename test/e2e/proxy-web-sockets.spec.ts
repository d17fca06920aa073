import type { WebSocket } from 'ws';
import type { UsageRecord } from '../../src/usage/record/usage-record.js';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import type { TestOwner } from '../support/owners.js';
import { call, ownerWith, UPSTREAM_KEY } from '../support/proxy-client.js';
import { recordOf } from '../support/recorded.js';
import { openSocket, rejectedSocket } from '../support/web-socket-client.js';
import type { TestSocket } from '../support/web-socket-client.js';
import { rejectWith, startWebSocketUpstream } from '../support/web-socket-upstream.js';
import type { WebSocketUpstream } from '../support/web-socket-upstream.js';

const ORIGIN = 'https://example.com';
let app: TestApp;
let upstream: WebSocketUpstream;
let owner: TestOwner;
let key: string;

beforeAll(async () => {
  app = await startApp({
    UPSTREAM_PRIVATE_NETWORKS: 'allow',
    PROXY_STREAMS_PER_KEY: '3',
    CORS_ORIGINS: ORIGIN,
  });
  upstream = await startWebSocketUpstream();
  ({ owner, key } = await ownerWith(app, upstream.url));
});
afterAll(async () => {
  await app.close();
  await upstream.close();
});
beforeEach(() => {
  upstream.reject = undefined;
  upstream.respond = respond;
});

const usage = (input: number, output: number) => ({
  total_tokens: input + output,
  input_tokens: input,
  output_tokens: output,
  input_token_details: { cached_tokens: 2, text_tokens: input, audio_tokens: 0 },
  output_token_details: { text_tokens: output, audio_tokens: 0 },
});
const event = (type: string, response: object = {}) => JSON.stringify({ type, response });

/** Responds like OpenAI's Realtime API. */
function respond(message: string, socket: WebSocket): void {
  const { type } = JSON.parse(message) as { type: string };
  if (type !== 'response.create') return socket.send(JSON.stringify({ type: 'echo', of: message }));
  socket.send(event('response.created'));
  socket.send(JSON.stringify({ type: 'response.output_text.delta', delta: 'Hi' }));
  socket.send(event('response.done', { status: 'completed', usage: usage(10, 5) }));
}

const acceptWrongly: WebSocketUpstream['reject'] = (_request, socket) => {
  const head = 'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade';
  socket.write(`${head}\r\nsec-websocket-accept: wrong\r\n\r\n`);
};

const sendEndlessly: WebSocketUpstream['reject'] = (_request, socket) => {
  socket.on('error', () => undefined);
  socket.write('HTTP/1.1 400 X\r\n\r\n');
  const write = () => socket.write('x'.repeat(20_000), () => socket.writable && setImmediate(write));
  write();
};

const sendInterim: WebSocketUpstream['reject'] = (request, socket) => {
  socket.on('error', () => undefined);
  socket.write('HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n'.repeat(11));
  rejectWith(400)(request, socket);
};

const CREATE = '{"type":"response.create"}';
const idOf = ({ response }: TestSocket) => response.headers['x-request-id'] as string;
const typesOf = ({ messages }: TestSocket) =>
  messages.map((message) => (JSON.parse(String(message)) as { type: string }).type);

async function closed({ socket, closed: end }: TestSocket, code = 1_000): Promise<readonly [number, string]> {
  socket.close(code);
  return end;
}

async function recorded(connection: TestSocket): Promise<UsageRecord> {
  return recordOf(owner, idOf(connection));
}

describe('a WebSocket', () => {
  it('passes messages in both directions, and records the usage of its responses', async () => {
    const connection = await openSocket(app, key, {
      headers: { 'openai-beta': 'realtime=v1', 'x-request-id': 'ws-1' },
      protocols: ['realtime'],
    });
    const { socket, messages, response } = connection;
    expect(socket.protocol).toBe('realtime');
    expect(response.headers).toMatchObject({ 'x-request-id': 'ws-1' });
    const { url, headers } = upstream.handshakes.at(-1)!;
    expect(url).toBe('/v1/realtime?model=gpt-realtime');
    expect(headers).toMatchObject({ authorization: `Bearer ${UPSTREAM_KEY}`, 'openai-beta': 'realtime=v1' });
    expect(JSON.stringify(headers)).not.toContain(key);
    socket.send('{"type":"session.update","ünï":"😀"}');
    socket.send(Buffer.from([0, 255, 1]));
    socket.send(CREATE);
    socket.send(CREATE);
    await eventually(() => expect(messages).toHaveLength(8));
    expect(JSON.parse(messages[0] as string)).toEqual({
      type: 'echo',
      of: '{"type":"session.update","ünï":"😀"}',
    });
    expect(messages[1]).toEqual(Buffer.from([0, 255, 1]));
    expect(await closed(connection, 4_000)).toEqual([4_000, '']);
    expect(await recorded(connection)).toMatchObject({
      ...{
        method: 'GET',
        path: '/v1/realtime',
        model: 'gpt-realtime',
        stream: true,
        status: 101,
        outcome: 'ok',
      },
      ...{ input_tokens: 20, cached_input_tokens: 4, output_tokens: 10, total_tokens: 30 },
      usage_source: 'provider',
      attempts: [{ status: 101, error: null }],
    });
  });

  it('reads the usage and the model of the Responses API', async () => {
    upstream.respond = (_message, socket) => {
      const details = {
        input_tokens_details: { cached_tokens: 3 },
        output_tokens_details: { reasoning_tokens: 4 },
      };
      const response = { model: 'gpt-5', usage: { input_tokens: 7, output_tokens: 5, ...details } };
      socket.send(event('response.created', { model: 'gpt-5' }));
      socket.send(event('response.completed', response));
    };
    const connection = await openSocket(app, key, { path: '/v1/responses' });
    connection.socket.send(JSON.stringify({ type: 'response.create', model: 'gpt-5', input: 'Hi' }));
    await eventually(() => expect(typesOf(connection)).toEqual(['response.created', 'response.completed']));
    await closed(connection);
    expect(await recorded(connection)).toMatchObject({
      ...{ model: 'gpt-5', input_tokens: 7, cached_input_tokens: 3, output_tokens: 5, reasoning_tokens: 4 },
      usage_source: 'provider',
    });
  });

  it('has no usage and costs nothing without a response', async () => {
    const connection = await openSocket(app, key);
    await closed(connection);
    const record = await recorded(connection);
    expect(record).toMatchObject({ outcome: 'ok', total_tokens: null, usage_source: 'none', cost_usd: 0 });
  });

  it('takes the key from the subprotocols of browsers, and keeps it from the upstream', async () => {
    const protocols = ['realtime', `openai-insecure-api-key.${key}`];
    const connection = await openSocket(app, undefined, { protocols });
    expect(connection.socket.protocol).toBe('realtime');
    expect(upstream.handshakes.at(-1)!.headers['sec-websocket-protocol']).toBe('realtime');
    await closed(connection);
  });

  it('keeps the order and the bytes of many messages for a client that reads late', async () => {
    const connection = await openSocket(app, key);
    connection.socket.pause();
    const sent = Array.from({ length: 200 }, (_, i) => `${i}${'x'.repeat(100_000)}`);
    for (const message of sent) upstream.sockets.at(-1)!.send(message);
    connection.socket.resume();
    await eventually(() => expect(connection.messages).toHaveLength(sent.length));
    expect(connection.messages.every((message, i) => message === sent[i])).toBe(true);
    await closed(connection);
  });

  it('is closed if a message is too large, and recorded', async () => {
    const connection = await openSocket(app, key);
    connection.socket.send('x'.repeat(4_194_305));
    expect((await connection.closed)[0]).toBe(1_009);
    expect(await recorded(connection)).toMatchObject({ status: 101, outcome: 'ok' });
  });

  it('ends with the code of the upstream', async () => {
    const connection = await openSocket(app, key);
    upstream.sockets.at(-1)!.close(4_321, 'session expired');
    expect(await connection.closed).toEqual([4_321, 'session expired']);
    expect(await recorded(connection)).toMatchObject({ outcome: 'interrupted' });
  });

  it('ends as a bad gateway if the upstream breaks off', async () => {
    upstream.respond = (_message, socket) => {
      socket.send(event('response.created'));
      socket.terminate();
    };
    const connection = await openSocket(app, key);
    connection.socket.send(CREATE);
    expect((await connection.closed)[0]).toBe(1_014);
    expect(await recorded(connection)).toMatchObject({ outcome: 'interrupted', usage_source: 'partial' });
  });

  it('ends at the upstream if the client breaks off during a response', async () => {
    upstream.respond = (_message, socket) => socket.send(event('response.created'));
    const connection = await openSocket(app, key);
    connection.socket.send(CREATE);
    await eventually(() => expect(typesOf(connection)).toEqual(['response.created']));
    connection.socket.terminate();
    await eventually(() => expect(upstream.sockets.at(-1)!.readyState).toBe(3));
    expect(await recorded(connection)).toMatchObject({ outcome: 'client_gone', usage_source: 'partial' });
  });
});

describe('a handshake', () => {
  it.each([
    ['without a key', undefined, 'missing_proxy_key'],
    ['with an unknown key', 'mk_unknown', 'invalid_proxy_key'],
  ])('%s is rejected', async (_description, given, code) => {
    const count = upstream.handshakes.length;
    const { status, body } = await rejectedSocket(app, given);
    expect([status, JSON.parse(body).error.code]).toEqual([401, code]);
    expect(upstream.handshakes).toHaveLength(count);
  });

  it.each([
    ['without its Upgrade header, as load balancers relay it', { upgrade: undefined }],
    ['without its key', { 'sec-websocket-key': undefined }],
    ['of another version', { 'sec-websocket-version': '8' }],
    ['with an invalid key', { 'sec-websocket-key': 'short' }],
    ['with invalid subprotocols', { 'sec-websocket-protocol': 'a,,b' }],
    ['with a subprotocol twice', { 'sec-websocket-protocol': 'a, a' }],
    ['with a body', { 'content-length': '2' }],
  ])('%s is rejected with 426', async (_description, changed) => {
    const count = upstream.handshakes.length;
    const headers = Object.entries({
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      'sec-websocket-version': '13',
      ...changed,
    }).filter(([, value]) => value !== undefined) as [string, string][];
    const body = 'content-length' in changed ? '{}' : undefined;
    const reply = await call(app, key, { method: 'GET', headers: Object.fromEntries(headers), body });
    expect([reply.status, JSON.parse(reply.text).error.code]).toEqual([426, 'websockets_unsupported']);
    expect(reply.headers.upgrade).toBe('HTTP/1.1');
    expect(upstream.handshakes).toHaveLength(count);
  });

  it.each([401, 403, 429])('gets the response %i of the upstream', async (status) => {
    upstream.reject = rejectWith(status, '{"error":{"message":"from the provider"}}');
    const rejection = await rejectedSocket(app, key);
    expect([rejection.status, rejection.body]).toEqual([status, '{"error":{"message":"from the provider"}}']);
    const record = await recordOf(owner, rejection.headers['x-request-id'] as string);
    expect(record).toMatchObject({ status, outcome: 'client_error', attempts: [{ status, error: null }] });
  });

  it.each([200, 404, 405, 426, 501])('gets 426 if the upstream responds with %i', async (status) => {
    upstream.reject = rejectWith(status);
    const rejection = await rejectedSocket(app, key);
    expect([rejection.status, JSON.parse(rejection.body).error.code]).toEqual([
      426,
      'websockets_unsupported',
    ]);
    const record = await recordOf(owner, rejection.headers['x-request-id'] as string);
    expect(record).toMatchObject({ status: 426, attempts: [{ status, error: 'status' }], cost_usd: 0 });
  });

  it.each<[string, WebSocketUpstream['reject'], number, string]>([
    ['redirects', rejectWith(302), 502, 'upstream_error'],
    ['closes the connection', (_request, socket) => socket.destroy(), 502, 'upstream_unreachable'],
    ['sends a wrong accept header', acceptWrongly, 502, 'upstream_unreachable'],
    ['sends no HTTP', (_request, socket) => socket.end('what?\r\n\r\n'), 502, 'upstream_unreachable'],
    ['sends an endless body', sendEndlessly, 502, 'upstream_unreachable'],
    ['sends too many fields', rejectWith(400, 'no', 'x: y\r\n'.repeat(201)), 502, 'upstream_unreachable'],
    [
      'sends long headers',
      rejectWith(400, 'no', `x: ${'y'.repeat(65_536)}\r\n`),
      502,
      'upstream_unreachable',
    ],
    ['sends many interim responses', sendInterim, 502, 'upstream_unreachable'],
  ])('is rejected if the only upstream %s', async (_description, reject, status, code) => {
    upstream.reject = reject;
    const rejection = await rejectedSocket(app, key);
    expect([rejection.status, JSON.parse(rejection.body).error.code]).toEqual([status, code]);
  });

  it('gets a listed status of the upstream, which counts as a failure', async () => {
    upstream.reject = rejectWith(404);
    const pool = await ownerWith(app, upstream.url);
    const failing = { failover_on: [404] };
    await pool.owner.admin.put(`/me/upstreams/${pool.ids[0]}`).send(failing).expect(200);
    const rejection = await rejectedSocket(app, pool.key);
    expect([rejection.status, JSON.parse(rejection.body).error.message]).toEqual([404, 'no']);
  });

  it('gets a response that caches and other sites treat as one of mintkeep', async () => {
    upstream.reject = rejectWith(403);
    const { headers } = await rejectedSocket(app, key, { headers: { origin: ORIGIN } });
    expect(headers['access-control-allow-origin']).toBe(ORIGIN);
    expect(headers.vary).toBe('Origin, Authorization, X-Api-Key, Api-Key');
  });

  it('goes on to the next upstream until one accepts it', async () => {
    const broken = await startWebSocketUpstream();
    broken.reject = rejectWith(503);
    const plain = await startWebSocketUpstream();
    plain.reject = rejectWith(404);
    const nobody = 'http://127.0.0.1:1';
    const pool = await ownerWith(app, nobody, broken.url, plain.url, upstream.url);
    const connection = await openSocket(app, pool.key);
    await closed(connection);
    expect(await recordOf(pool.owner, idOf(connection))).toMatchObject({
      upstream_id: pool.ids[3],
      attempts: [{ error: 'connect' }, { status: 503 }, { status: 404 }, { status: 101, error: null }],
    });
    await broken.close();
    await plain.close();
  });

  it('counts as a stream of its key', async () => {
    const own = await ownerWith(app, upstream.url); // no earlier connection of the key is still being closed
    const open = await Promise.all([1, 2, 3].map(() => openSocket(app, own.key)));
    const { status, body } = await rejectedSocket(app, own.key);
    expect([status, JSON.parse(body).error.code]).toEqual([429, 'too_many_streams']);
    await Promise.all(open.map((connection) => closed(connection)));
    await eventually(async () => closed(await openSocket(app, own.key)));
  });

  it('is cancelled at the upstream if the client leaves', async () => {
    let left = false;
    upstream.reject = (_request, socket) => {
      socket.on('error', () => undefined).on('end', () => (left = true));
      socket.on('end', () => socket.destroy()).resume();
    };
    const controller = new AbortController();
    const headers = {
      ...{ connection: 'Upgrade', upgrade: 'websocket', 'x-request-id': 'left-early' },
      ...{ 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', 'sec-websocket-version': '13' },
    };
    const count = upstream.handshakes.length;
    const reply = call(app, key, { headers, signal: controller.signal }).catch(() => undefined);
    await eventually(() => expect(upstream.handshakes).toHaveLength(count + 1));
    controller.abort();
    await reply;
    await eventually(() => expect(left).toBe(true));
    expect(await recordOf(owner, 'left-early')).toMatchObject({ status: 499, outcome: 'client_gone' });
  });
});
