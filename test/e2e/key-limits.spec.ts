import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { personalOwner } from '../support/owners.js';
import { inParallel, tally } from '../support/parallel.js';
import { call, mintKey, open, ownerWith } from '../support/proxy-client.js';
import type { Reply } from '../support/proxy-client.js';
import {
  answerWith,
  answerWithEvents,
  chunk,
  startRawUpstream,
  STREAM_HEAD,
} from '../support/raw-upstream.js';
import type { Answer, RawUpstream } from '../support/raw-upstream.js';

const STREAMS = 20;
const A_STREAM = { body: '{"model":"m","stream":true}' };
const NO_STREAM = { body: '{"model":"m","stream":false}' };

let app: TestApp;
let upstream: RawUpstream;

const begin: Answer = ({ socket }) => {
  socket.write(STREAM_HEAD);
  socket.write(chunk('data: {}\n\n'));
};

async function start(variables: NodeJS.ProcessEnv): Promise<void> {
  app = await startApp({ UPSTREAM_PRIVATE_NETWORKS: 'allow', ...variables });
  upstream = await startRawUpstream(answerWith('{}'));
}

async function stop(): Promise<void> {
  await app.close();
  await upstream.close();
}

/** A key with a pool of its own. */
async function newKey(...urls: string[]): Promise<string> {
  return (await ownerWith(app, ...(urls.length > 0 ? urls : [`${upstream.url}/v1`]))).key;
}

function expectRefusal({ status, text, headers }: Reply, code: string): void {
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
    upstream.answer = begin;
    upstream.requests.length = 0;
  });

  /** Opens as many streams as there is room for, and no more. */
  async function fill(key: string) {
    const streams = await inParallel(STREAMS, () => open(app, key, A_STREAM));
    expect(tally(streams.map(({ statusCode }) => statusCode!))).toEqual({ 200: STREAMS });
    expectRefusal(await call(app, key, A_STREAM), 'too_many_streams');
    for (const stream of streams) stream.on('error', () => undefined).resume();
    return streams;
  }

  /** That all of the room is there again. */
  const expectRoom = (key: string) =>
    eventually(async () => {
      upstream.answer = begin;
      const streams = await inParallel(STREAMS, () => open(app, key, A_STREAM));
      for (const stream of streams) stream.on('error', () => undefined).destroy();
      expect(tally(streams.map(({ statusCode }) => statusCode!))).toEqual({ 200: STREAMS });
    });

  it('are never more than the limit, however many begin at once', async () => {
    const key = await newKey();
    const streams = await inParallel(500, () => open(app, key, A_STREAM));
    expect(tally(streams.map(({ statusCode }) => statusCode!))).toEqual({ 200: STREAMS, 429: 500 - STREAMS });
    expect(upstream.requests).toHaveLength(STREAMS);
    for (const stream of streams) stream.on('error', () => undefined).destroy();
    await expectRoom(key);
  });

  it('that are refused are on record', async () => {
    const key = await newKey();
    const streams = await fill(key);
    await eventually(async () => {
      const [row] = await app.database.query(
        `SELECT status, outcome, stream, model, upstream_id, attempts FROM usage_records
         WHERE status = 429 ORDER BY at DESC LIMIT 1`,
      );
      const refused = { status: 429, outcome: 'client_error', stream: true, model: 'm' };
      expect(row).toEqual({ ...refused, upstream_id: null, attempts: [] });
    });
    for (const stream of streams) stream.destroy();
  });

  it('leave other requests and other keys alone', async () => {
    const [key, other] = [await newKey(), await newKey()];
    const streams = await fill(key);
    upstream.answer = answerWith('{}');
    expect((await call(app, key, NO_STREAM)).status).toBe(200);
    expect((await call(app, other, A_STREAM)).status).toBe(200);
    for (const stream of streams) stream.destroy();
  });

  it.each<[string, () => void]>([
    ['ends', () => upstream.requests.forEach(({ socket }) => socket.write('0\r\n\r\n'))],
    ['is cut by the upstream', () => upstream.requests.forEach(({ socket }) => socket.destroy())],
  ])('that %s makes room', async (_what, end) => {
    const key = await newKey();
    await fill(key);
    end();
    await expectRoom(key);
  });

  it('whose client leaves makes room', async () => {
    const key = await newKey();
    for (const stream of await fill(key)) stream.destroy();
    await expectRoom(key);
  });

  it('whose client leaves before there is an answer makes room', async () => {
    const key = await newKey();
    upstream.answer = () => undefined;
    const abort = new AbortController();
    const sent = inParallel(STREAMS, () =>
      fetch(`${app.url}/v1/chat/completions`, {
        ...{ method: 'POST', headers: { 'x-api-key': key }, body: A_STREAM.body },
        signal: abort.signal,
      }).catch(() => undefined),
    );
    await eventually(() => expect(upstream.requests).toHaveLength(STREAMS));
    expectRefusal(await call(app, key, A_STREAM), 'too_many_streams');
    abort.abort();
    await sent;
    await expectRoom(key);
  });

  it.each<[string, Answer, number]>([
    ['a whole stream', answerWithEvents('data: {}\n\n', 'data: [DONE]\n\n'), 200],
    ['an answer that is no stream', answerWith('{}'), 200],
    ['a refusal', answerWith('{}', { status: 400 }), 400],
    ['a failure', answerWith('{}', { status: 500 }), 500],
    ['a reset', ({ socket }) => socket.resetAndDestroy(), 502],
  ])('answered with %s makes room', async (_what, answer, status) => {
    const key = await newKey();
    upstream.answer = answer;
    const replies = await inParallel(STREAMS * 2, async (i) => {
      if (i < STREAMS) return call(app, key, A_STREAM);
      return call(app, key, NO_STREAM);
    });
    expect(tally(replies.map((reply) => reply.status))).toEqual({ [status]: STREAMS * 2 });
    await expectRoom(key);
  });

  it('without an upstream makes room', async () => {
    const key = await mintKey(await personalOwner(app));
    for (let i = 0; i < 3; i++) {
      const replies = await inParallel(STREAMS, () => call(app, key, A_STREAM));
      expect(tally(replies.map(({ status }) => status))).toEqual({ 503: STREAMS });
    }
  });

  it('are without end where the limit is 0', async () => {
    const free = await startApp(
      { UPSTREAM_PRIVATE_NETWORKS: 'allow', PROXY_STREAMS_PER_KEY: '0' },
      { database: app.database },
    );
    const key = await newKey();
    const streams = await inParallel(300, () => open(free, key, A_STREAM));
    expect(tally(streams.map(({ statusCode }) => statusCode!))).toEqual({ 200: 300 });
    for (const stream of streams) stream.on('error', () => undefined).destroy();
    await free.close();
  });
});

describe('requests of a key in a minute', () => {
  beforeAll(() => start({ PROXY_REQUESTS_PER_MINUTE: '60' }));
  afterAll(stop);

  it('are never more than the limit at once, and one goes through after Retry-After', async () => {
    const [key, other] = [await newKey(), await newKey()];
    const beganAt = performance.now();
    const replies = await inParallel(300, () => call(app, key, NO_STREAM));
    const passed = replies.filter(({ status }) => status === 200).length;
    const secondsGone = Math.ceil((performance.now() - beganAt) / 1_000);
    expect(passed).toBeGreaterThanOrEqual(60);
    expect(passed).toBeLessThanOrEqual(60 + secondsGone);
    expect(upstream.requests).toHaveLength(passed);
    const refused = replies.find(({ status }) => status !== 200)!;
    expectRefusal(refused, 'rate_limited');
    expect(refused.headers['retry-after']).toBe('1');
    expect((await call(app, other, NO_STREAM)).status).toBe(200);
    await eventually(async () => expect((await call(app, key, NO_STREAM)).status).toBe(200));
  });

  it('that are refused are on record, and their bodies are not waited for', async () => {
    const key = await newKey();
    await inParallel(120, () => call(app, key, NO_STREAM));
    const reply = await eventually(async () => {
      const headers = { 'content-length': '1000000' };
      const response = await call(app, key, { method: 'POST', headers, body: '{' });
      expectRefusal(response, 'rate_limited');
      return response;
    });
    await eventually(async () => {
      const [row] = await app.database.query(
        `SELECT status, outcome, model FROM usage_records WHERE request_id = '${reply.headers['x-request-id'] as string}'`,
      );
      expect(row).toEqual({ status: 429, outcome: 'client_error', model: null });
    });
  });
});
