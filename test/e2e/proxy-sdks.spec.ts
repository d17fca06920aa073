import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { personalOwner } from '../support/owners.js';
import { mintKey, ownerWith } from '../support/proxy-client.js';
import {
  respondWith,
  respondWithEvents,
  chunk,
  startRawUpstream,
  STREAM_HEADERS,
} from '../support/raw-upstream.js';
import type { Responder, RawUpstream } from '../support/raw-upstream.js';

let app: TestApp;
/** Replica that does not wait for long for responses of upstreams. */
let impatient: TestApp;
let upstream: RawUpstream;
/** Keys for a pool with the upstream and for an empty pool. */
let key: string;
let emptyKey: string;

beforeAll(async () => {
  app = await startApp({ UPSTREAM_PRIVATE_NETWORKS: 'allow' });
  const variables = { UPSTREAM_PRIVATE_NETWORKS: 'allow', UPSTREAM_RESPONSE_TIMEOUT_MS: '300' };
  impatient = await startApp(variables, app);
  upstream = await startRawUpstream(respondWith('{}'));
  ({ key } = await ownerWith(app, upstream.url));
  emptyKey = await mintKey(await personalOwner(app));
});
afterAll(async () => {
  await impatient.close();
  await app.close();
  await upstream.close();
});
beforeEach(() => (upstream.requests.length = 0));

const openai = (apiKey = key, maxRetries = 0, fetch = globalThis.fetch, { url } = app) =>
  new OpenAI({ apiKey, maxRetries, fetch, baseURL: `${url}/v1` });
const anthropic = (apiKey = key, maxRetries = 0, fetch = globalThis.fetch, { url } = app) =>
  new Anthropic({ apiKey, maxRetries, fetch, baseURL: url });

/** Counts the requests that an SDK makes, retries included. */
function countingFetch(): { fetch: typeof globalThis.fetch; count: () => number } {
  let count = 0;
  const fetch: typeof globalThis.fetch = (...args) => {
    count++;
    return globalThis.fetch(...args);
  };
  return { fetch, count: () => count };
}

const ask = { model: 'm', messages: [{ role: 'user' as const, content: 'Hi' }] };
const askAnthropic = { ...ask, max_tokens: 9 };
const chatEvent = (content: string) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;
const named = (data: { type: string }) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const delta = (text: string) =>
  named({ ...{ type: 'content_block_delta', index: 0 }, delta: { type: 'text_delta', text } } as {
    type: string;
  });
const MESSAGE = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_reason: null, stop_sequence: null },
  content: [],
  usage: { input_tokens: 3, output_tokens: 1 },
};
const START = [
  named({ type: 'message_start', message: MESSAGE } as { type: string }),
  named({ ...{ type: 'content_block_start', index: 0 }, content_block: { type: 'text', text: '' } } as {
    type: string;
  }),
];
const END = [
  named({ type: 'content_block_stop', index: 0 } as { type: string }),
  named({
    ...{ type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null } },
    usage: { output_tokens: 5 },
  } as { type: string }),
  named({ type: 'message_stop' }),
];
const interruptAfter =
  (...events: string[]): Responder =>
  ({ socket }) => {
    socket.write(STREAM_HEADERS);
    socket.end(Buffer.concat(events.map(chunk)));
  };

const hang: Responder = () => undefined;
const hangUp: Responder = ({ socket }) => socket.end();

describe('OpenAI SDK', () => {
  it('gets a response with the request id', async () => {
    upstream.respond = respondWith(
      '{"id":"c","choices":[{"message":{"role":"assistant","content":"Hello"}}]}',
    );
    const completion = await openai().chat.completions.create(ask);
    expect(completion.choices[0]!.message.content).toBe('Hello');
    expect(completion._request_id).toMatch(/./);
  });

  it('gets a stream, with usage only if the client requests it', async () => {
    const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
    const last = `data: ${JSON.stringify({ choices: [], usage })}\n\n`;
    upstream.respond = respondWithEvents(chatEvent('Hel'), chatEvent('lo'), last, 'data: [DONE]\n\n');
    for (const include_usage of [true, false]) {
      const stream = await openai().chat.completions.create({
        ...ask,
        stream: true,
        stream_options: { include_usage },
      });
      const chunks = [];
      for await (const each of stream) chunks.push(each);
      expect(chunks.map(({ choices }) => choices[0]?.delta.content)).toEqual([
        ...['Hel', 'lo', ...(include_usage ? [undefined] : [])],
      ]);
      expect(chunks.at(-1)!.usage).toEqual(include_usage ? usage : undefined);
      expect(JSON.parse(upstream.requests.at(-1)!.body.toString()).stream_options).toEqual({
        include_usage: true,
      });
    }
  });

  it.each<[string, Responder, string | undefined, unknown, object]>([
    [
      'a bad key',
      respondWith('{}'),
      'mk_bad',
      OpenAI.AuthenticationError,
      { status: 401, code: 'invalid_proxy_key', type: 'authentication_error' },
    ],
    [
      'no response in time',
      hang,
      undefined,
      OpenAI.InternalServerError,
      { status: 504, code: 'upstream_timeout', type: 'timeout_error' },
    ],
    [
      'an upstream that closes the connection',
      hangUp,
      undefined,
      OpenAI.InternalServerError,
      { status: 502, code: 'upstream_unreachable', message: '502 no upstream is reachable' },
    ],
    [
      'a 400',
      respondWith('{"error":{"message":"too long","code":"context","type":"t","param":"p"}}', {
        status: 400,
      }),
      undefined,
      OpenAI.BadRequestError,
      { status: 400, code: 'context', type: 't', param: 'p', message: '400 too long' },
    ],
    [
      'a 429',
      respondWith('{"error":{"message":"slow down"}}', { status: 429 }),
      undefined,
      OpenAI.RateLimitError,
      { status: 429, message: '429 slow down' },
    ],
    [
      'a 500',
      respondWith('{"error":{"message":"oh"}}', { status: 500 }),
      undefined,
      OpenAI.InternalServerError,
      { status: 500, message: '500 oh' },
    ],
  ])('throws its own error for %s', async (_what, responder, secret, kind, details) => {
    upstream.respond = responder;
    const failure = await openai(secret, 0, fetch, responder === hang ? impatient : app)
      .chat.completions.create(ask)
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(kind);
    expect(failure).toMatchObject({ ...details, requestID: expect.any(String) });
  });

  it('throws if a stream is interrupted', async () => {
    upstream.respond = interruptAfter(chatEvent('Hel'));
    const stream = await openai().chat.completions.create({ ...ask, stream: true });
    const read = async () => {
      for await (const { choices } of stream) expect(choices[0]!.delta.content).toBe('Hel');
    };
    await expect(read()).rejects.toMatchObject({ code: 'stream_interrupted' });
    await expect(read()).rejects.toThrow();
  });

  it('throws if a Responses stream is interrupted', async () => {
    upstream.respond = interruptAfter(
      'event: response.created\ndata: {"type":"response.created","sequence_number":0}\n\n',
    );
    const stream = await openai().responses.create({ model: 'm', input: 'Hi', stream: true });
    const read = async () => {
      for await (const { type } of stream) expect(type).toBe('response.created');
    };
    await expect(read()).rejects.toMatchObject({ code: 'stream_interrupted' });
  });

  it('retries after a failure, but not with an empty pool', async () => {
    upstream.respond = (request) =>
      (upstream.requests.length < 3
        ? respondWith('{}', { status: 500, headers: 'retry-after-ms: 1\r\n' })
        : respondWith('{"id":"third"}'))(request);
    expect((await openai(key, 2).chat.completions.create(ask)).id).toBe('third');
    const { fetch, count } = countingFetch();
    const failure = await openai(emptyKey, 5, fetch)
      .chat.completions.create(ask)
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ status: 503, code: 'no_upstream' });
    expect(count()).toBe(1);
  });

  it('cancels the upstream request when it aborts', async () => {
    upstream.respond = ({ socket }) => {
      socket.write(STREAM_HEADERS);
      socket.write(chunk(chatEvent('Hi')));
    };
    const stream = await openai().chat.completions.create({ ...ask, stream: true });
    for await (const _each of stream) stream.controller.abort();
    await eventually(() => expect(upstream.requests[0]!.socket.destroyed).toBe(true));
  });

  it('lists models', async () => {
    upstream.respond = respondWith('{"data":[{"id":"b","object":"model"},{"id":"a","object":"model"}]}');
    const ids = [];
    for await (const { id } of openai().models.list()) ids.push(id);
    expect(ids).toEqual(['b', 'a']);
  });
});

describe('Anthropic SDK', () => {
  it('gets a response with the request id', async () => {
    upstream.respond = respondWith(
      JSON.stringify({ ...MESSAGE, content: [{ type: 'text', text: 'Hello' }] }),
    );
    const message = await anthropic().messages.create(askAnthropic);
    expect(message.content).toEqual([{ type: 'text', text: 'Hello' }]);
    expect(message._request_id).toMatch(/./);
  });

  it('gets a stream', async () => {
    upstream.respond = respondWithEvents(...START, delta('Hel'), delta('lo'), ...END);
    const message = await anthropic().messages.stream(askAnthropic).finalMessage();
    expect(message).toMatchObject({
      content: [{ type: 'text', text: 'Hello' }],
      usage: { input_tokens: 3, output_tokens: 5 },
    });
  });

  it.each<[string, Responder, string | undefined, unknown, number, string]>([
    ['a bad key', respondWith('{}'), 'mk_bad', Anthropic.AuthenticationError, 401, 'authentication_error'],
    ['no response in time', hang, undefined, Anthropic.InternalServerError, 504, 'timeout_error'],
    [
      'an upstream that closes the connection',
      hangUp,
      undefined,
      Anthropic.InternalServerError,
      502,
      'api_error',
    ],
    [
      ...([
        'a 400',
        respondWith('{"type":"error","error":{"type":"invalid_request_error"}}', { status: 400 }),
      ] as const),
      ...([undefined, Anthropic.BadRequestError, 400, 'invalid_request_error'] as const),
    ],
    [
      ...([
        'a 529',
        respondWith('{"type":"error","error":{"type":"overloaded_error"}}', { status: 529 }),
      ] as const),
      ...([undefined, Anthropic.InternalServerError, 529, 'overloaded_error'] as const),
    ],
  ])('throws its own error for %s', async (_what, responder, secret, kind, status, type) => {
    upstream.respond = responder;
    const failure = await anthropic(secret, 0, fetch, responder === hang ? impatient : app)
      .messages.create(askAnthropic)
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(kind);
    expect(failure).toMatchObject({
      ...{ status, requestID: expect.any(String) },
      error: { type: 'error', error: { type } },
    });
  });

  it('throws if a stream is interrupted', async () => {
    upstream.respond = interruptAfter(...START, delta('Hel'));
    const stream = await anthropic().messages.create({ ...askAnthropic, stream: true });
    const types: string[] = [];
    const read = async () => {
      for await (const { type } of stream) types.push(type);
    };
    await expect(read()).rejects.toThrow('stream_interrupted');
    expect(types).toEqual(['message_start', 'content_block_start', 'content_block_delta']);
  });

  it('retries after a failure, but not with an empty pool', async () => {
    upstream.respond = (request) =>
      (upstream.requests.length < 3
        ? respondWith('{}', { status: 529, headers: 'retry-after-ms: 1\r\n' })
        : respondWith(JSON.stringify({ ...MESSAGE, id: 'third' })))(request);
    expect((await anthropic(key, 2).messages.create(askAnthropic)).id).toBe('third');
    const { fetch, count } = countingFetch();
    const failure = await anthropic(emptyKey, 5, fetch)
      .messages.create(askAnthropic)
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ status: 503 });
    expect(count()).toBe(1);
  });

  it('cancels the upstream request when it aborts', async () => {
    upstream.respond = ({ socket }) => {
      socket.write(STREAM_HEADERS);
      socket.write(chunk(START[0]!));
    };
    const stream = await anthropic().messages.create({ ...askAnthropic, stream: true });
    for await (const _each of stream) stream.controller.abort();
    await eventually(() => expect(upstream.requests[0]!.socket.destroyed).toBe(true));
  });

  it('lists models', async () => {
    upstream.respond = respondWith('{"data":[{"id":"b","object":"model","created":0},{"id":"a"}]}');
    const models = [];
    for await (const model of anthropic().models.list()) models.push(model);
    expect(models.map(({ id, type }) => [id, type])).toEqual([
      ['b', 'model'],
      ['a', 'model'],
    ]);
  });
});
