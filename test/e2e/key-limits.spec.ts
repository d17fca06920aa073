import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { personalOwner } from '../support/owners.js';
import { inParallel, tally } from '../support/parallel.js';
import { call, mintKey, open, ownerWith } from '../support/proxy-client.js';
import type { Reply } from '../support/proxy-client.js';
import { connectRaw, statusesIn } from '../support/raw-client.js';
import {
  respondWith,
  respondWithEvents,
  chunk,
  startRawUpstream,
  STREAM_HEADERS,
} from '../support/raw-upstream.js';
import type { Responder, RawUpstream } from '../support/raw-upstream.js';
import { callRecorded } from '../support/recorded.js';

const STREAMS = 20;
const A_STREAM = { body: '{"model":"m","stream":true}' };
const NO_STREAM = { body: '{"model":"m","stream":false}' };

let app: TestApp;
let upstream: RawUpstream;

const begin: Responder = ({ socket }) => {
  socket.write(STREAM_HEADERS);
  socket.write(chunk('data: {}\n\n'));
};

async function start(variables: NodeJS.ProcessEnv): Promise<void> {
  app = await startApp({ UPSTREAM_PRIVATE_NETWORKS: 'allow', ...variables });
  upstream = await startRawUpstream(respondWith('{}'));
}

async function stop(): Promise<void> {
  await app.close();
  await upstream.close();
}

/** Creates a key with a pool of its own. */
async function newKey(...urls: string[]): Promise<string> {
  return (await ownerWith(app, ...(urls.length > 0 ? urls : [`${upstream.url}/v1`]))).key;
}

/** Lookups of an uncached key may end in any order, and may time out on a busy machine. */
async function cacheKey(key: string, replica = app): Promise<void> {
  const { respond } = upstream;
  upstream.respond = respondWith('{}');
  await eventually(async () => expect((await call(replica, key, NO_STREAM)).status).toBe(200));
  upstream.respond = respond;
  upstream.requests.length = 0;
}

async function newCachedKey(replica = app): Promise<string> {
  const key = await newKey();
  await cacheKey(key, replica);
  return key;
}

function expectRejection({ status, text, headers }: Reply, code: string): void {
  expect(status).toBe(429);
  expect(JSON.parse(text)).toEqual({
    type: 'error',
    error: { type: 'rate_limit_error', message: expect.any(String), code, param: null },
    request_id: headers['x-request-id'],
  });
  expect(headers).not.toHaveProperty('x-should-retry');
}

describe('open streams of a key', () => {
  beforeAll(() => start({ PROXY_STREAMS_PER_KEY: String(STREAMS) }));
  afterAll(stop);
  beforeEach(() => {
    upstream.respond = begin;
    upstream.requests.length = 0;
  });

  /** Opens as many streams as the limit allows, and checks that the next one is rejected. */
  async function fill(key: string) {
    const streams = await inParallel(STREAMS, () => open(app, key, A_STREAM));
    expect(tally(streams.map(({ statusCode }) => statusCode!))).toEqual({ 200: STREAMS });
    expectRejection(await call(app, key, A_STREAM), 'too_many_streams');
    for (const stream of streams) stream.on('error', () => undefined).resume();
    return streams;
  }

  /** Checks that the key can open as many streams as the limit allows. */
  const expectAllFree = (key: string) =>
    eventually(async () => {
      upstream.respond = begin;
      const streams = await inParallel(STREAMS, () => open(app, key, A_STREAM));
      for (const stream of streams) stream.on('error', () => undefined).destroy();
      expect(tally(streams.map(({ statusCode }) => statusCode!))).toEqual({ 200: STREAMS });
    });

  it('never exceed the limit, however many requests start at once', async () => {
    const key = await newCachedKey();
    const streams = await inParallel(500, () => open(app, key, A_STREAM));
    expect(tally(streams.map(({ statusCode }) => statusCode!))).toEqual({ 200: STREAMS, 429: 500 - STREAMS });
    expect(upstream.requests).toHaveLength(STREAMS);
    for (const stream of streams) stream.on('error', () => undefined).destroy();
    await expectAllFree(key);
  });

  it('are recorded if they are rejected', async () => {
    const key = await newCachedKey();
    const streams = await fill(key);
    await eventually(async () => {
      const [row] = await app.database.query(
        `SELECT status, outcome, stream, model, upstream_id, attempts FROM usage_records
         WHERE status = 429 ORDER BY at DESC LIMIT 1`,
      );
      const rejected = { status: 429, outcome: 'client_error', stream: true, model: 'm' };
      expect(row).toEqual({ ...rejected, upstream_id: null, attempts: [] });
    });
    for (const stream of streams) stream.destroy();
  });

  it('do not limit other requests and other keys', async () => {
    const [key, other] = [await newCachedKey(), await newCachedKey()];
    const streams = await fill(key);
    upstream.respond = respondWith('{}');
    expect((await call(app, key, NO_STREAM)).status).toBe(200);
    expect((await call(app, other, A_STREAM)).status).toBe(200);
    for (const stream of streams) stream.destroy();
  });

  it.each<[string, () => void]>([
    ['ends', () => upstream.requests.forEach(({ socket }) => socket.write('0\r\n\r\n'))],
    ['is interrupted by the upstream', () => upstream.requests.forEach(({ socket }) => socket.destroy())],
  ])('are freed when a stream %s', async (_description, end) => {
    const key = await newCachedKey();
    await fill(key);
    end();
    await expectAllFree(key);
  });

  it('are freed when the client disconnects', async () => {
    const key = await newCachedKey();
    for (const stream of await fill(key)) stream.destroy();
    await expectAllFree(key);
  });

  it('are freed when the client disconnects before the response', async () => {
    const key = await newCachedKey();
    upstream.respond = () => undefined;
    const abort = new AbortController();
    const sent = inParallel(STREAMS, () =>
      fetch(`${app.url}/v1/chat/completions`, {
        ...{ method: 'POST', headers: { 'x-api-key': key }, body: A_STREAM.body },
        signal: abort.signal,
      }).catch(() => undefined),
    );
    await eventually(() => expect(upstream.requests).toHaveLength(STREAMS));
    expectRejection(await call(app, key, A_STREAM), 'too_many_streams');
    abort.abort();
    await sent;
    await expectAllFree(key);
  });

  it.each<[string, Responder, number]>([
    ['a whole stream', respondWithEvents('data: {}\n\n', 'data: [DONE]\n\n'), 200],
    ['a response that is not a stream', respondWith('{}'), 200],
    ['a rejection', respondWith('{}', { status: 400 }), 400],
    ['a failure', respondWith('{}', { status: 500 }), 500],
    ['a reset', ({ socket }) => socket.resetAndDestroy(), 502],
  ])('are freed after %s', async (_description, response, status) => {
    const key = await newCachedKey();
    upstream.respond = response;
    const replies = await inParallel(STREAMS * 2, async (i) => {
      if (i < STREAMS) return call(app, key, A_STREAM);
      return call(app, key, NO_STREAM);
    });
    expect(tally(replies.map((reply) => reply.status))).toEqual({ [status]: STREAMS * 2 });
    await expectAllFree(key);
  });

  it('are freed if the pool is empty', async () => {
    const key = await mintKey(await personalOwner(app));
    for (let i = 0; i < 3; i++) {
      const replies = await inParallel(STREAMS, () => call(app, key, A_STREAM));
      expect(tally(replies.map(({ status }) => status))).toEqual({ 503: STREAMS });
    }
  });

  it('are unlimited if the limit is 0', async () => {
    const free = await startApp(
      { UPSTREAM_PRIVATE_NETWORKS: 'allow', PROXY_STREAMS_PER_KEY: '0' },
      { database: app.database },
    );
    const key = await newCachedKey(free);
    const streams = await inParallel(300, () => open(free, key, A_STREAM));
    expect(tally(streams.map(({ statusCode }) => statusCode!))).toEqual({ 200: 300 });
    for (const stream of streams) stream.on('error', () => undefined).destroy();
    await free.close();
  });
});

describe('requests per minute of a key', () => {
  beforeAll(() => start({ PROXY_REQUESTS_PER_MINUTE: '60' }));
  afterAll(stop);

  it('never exceed the limit at once, and succeed after Retry-After', async () => {
    const other = await newKey();
    const beganAt = performance.now();
    const key = await newCachedKey(); // with one of its 60 requests
    const replies = await inParallel(300, () => call(app, key, NO_STREAM));
    const passed = replies.filter(({ status }) => status === 200).length;
    const elapsedSeconds = Math.ceil((performance.now() - beganAt) / 1_000);
    expect(passed).toBeGreaterThanOrEqual(59);
    expect(passed).toBeLessThanOrEqual(59 + elapsedSeconds);
    expect(upstream.requests).toHaveLength(passed);
    const rejected = replies.find(({ status }) => status !== 200)!;
    expectRejection(rejected, 'rate_limited');
    expect(rejected.headers['retry-after']).toBe('1');
    expect((await call(app, other, NO_STREAM)).status).toBe(200);
    await eventually(async () => expect((await call(app, key, NO_STREAM)).status).toBe(200));
  });

  it('are recorded if they are rejected, without waiting for the body', async () => {
    const limits = { UPSTREAM_PRIVATE_NETWORKS: 'allow', PROXY_REQUESTS_PER_MINUTE: '1' };
    const strict = await startApp(limits, { database: app.database });
    const key = await newCachedKey(strict); // with its only request of the minute
    const headers = { 'content-length': '1000000' };
    const reply = await call(strict, key, { method: 'POST', headers, body: '{' });
    await strict.close();
    expectRejection(reply, 'rate_limited');
    await eventually(async () => {
      const [row] = await app.database.query(
        `SELECT status, outcome, model FROM usage_records WHERE request_id = '${reply.headers['x-request-id'] as string}'`,
      );
      expect(row).toEqual({ status: 429, outcome: 'client_error', model: null });
    });
  });
});

describe('requests in flight of an organization', () => {
  const LIMIT = 10;
  beforeAll(() => start({ PROXY_REQUESTS_IN_FLIGHT: String(LIMIT) }));
  afterAll(stop);
  beforeEach(() => {
    upstream.respond = () => undefined;
    upstream.requests.length = 0;
  });

  const respondToAll = () => upstream.requests.splice(0).forEach(respondWith('{}'));

  it('never exceed the limit over all keys, and do not limit other organizations', async () => {
    const { owner, key } = await ownerWith(app, `${upstream.url}/v1`);
    const keys = [key, await mintKey(owner), await mintKey(owner)];
    for (const each of keys) await cacheKey(each);
    for (let round = 0; round < 3; round++) {
      const sent = inParallel(100, (i) => call(app, keys[i % 3]!, NO_STREAM));
      const rejected: Promise<Reply>[] = [];
      await eventually(() => expect(upstream.requests).toHaveLength(LIMIT));
      for (const each of keys) rejected.push(call(app, each, NO_STREAM));
      for (const reply of await Promise.all(rejected)) {
        expectRejection(reply, 'rate_limited');
        expect(reply.headers['retry-after']).toBe('1');
      }
      const other = call(app, await newKey(), NO_STREAM);
      await eventually(() => expect(upstream.requests).toHaveLength(LIMIT + 1));
      respondToAll();
      expect((await other).status).toBe(200);
      const statuses = (await sent).map(({ status }) => status);
      expect(tally(statuses)).toEqual({ 200: LIMIT, 429: 100 - LIMIT });
    }
  });

  it('count from the arrival of their headers until the client disconnects', async () => {
    const key = await newKey();
    const head = `POST /v1/a HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n`;
    const clients = await inParallel(LIMIT + 1, (i) =>
      connectRaw(app, `${head}${i % 2 ? 'Content-Length: 5' : 'Transfer-Encoding: chunked'}\r\n\r\n`),
    );
    const rejected = () => clients.filter((client) => statusesIn(client.text()).includes(429));
    await eventually(() => expect(rejected()).toHaveLength(1)); // all others count by then
    expectRejection(await call(app, key, NO_STREAM), 'rate_limited');
    for (const { socket } of clients) socket.destroy();
    upstream.respond = respondWith('{}');
    await eventually(async () => expect((await call(app, key, NO_STREAM)).status).toBe(200));
  });

  it('are recorded if they are rejected', async () => {
    const { owner, key } = await ownerWith(app, `${upstream.url}/v1`);
    await cacheKey(key);
    const sent = inParallel(LIMIT, () => call(app, key, NO_STREAM));
    await eventually(() => expect(upstream.requests).toHaveLength(LIMIT));
    const { record } = await callRecorded(app, owner, key, NO_STREAM);
    expect(record).toMatchObject({ status: 429, outcome: 'client_error', attempts: [] });
    respondToAll();
    await sent;
  });

  it('are rejected in order if one connection pipelines too many', async () => {
    const key = await newKey();
    await cacheKey(key);
    const request = `GET /v1/a HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`;
    const client = await connectRaw(app, request.repeat(LIMIT + 2));
    await eventually(() => expect(upstream.requests).toHaveLength(LIMIT));
    respondToAll();
    const statuses = [...Array.from({ length: LIMIT }, () => 200), 429, 429];
    await eventually(() => expect(statusesIn(client.text())).toEqual(statuses));
    client.socket.destroy();
  });
});
