import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { personalOwner } from '../support/owners.js';
import { mintKey, ownerWith } from '../support/proxy-client.js';
import {
  answerWith,
  answerWithEvents,
  chunk,
  startRawUpstream,
  STREAM_HEAD,
} from '../support/raw-upstream.js';
import type { Answer, RawUpstream } from '../support/raw-upstream.js';

let app: TestApp;
let upstream: RawUpstream;
/** Of a pool with the upstream, and of an empty one. */
let key: string;
let emptyKey: string;

beforeAll(async () => {
  app = await startApp({ UPSTREAM_PRIVATE_NETWORKS: 'allow', UPSTREAM_RESPONSE_TIMEOUT_MS: '300' });
  upstream = await startRawUpstream(answerWith('{}'));
  ({ key } = await ownerWith(app, upstream.url));
  emptyKey = await mintKey(await personalOwner(app));
});
afterAll(async () => {
  await app.close();
  await upstream.close();
});
beforeEach(() => (upstream.requests.length = 0));

const openai = (apiKey = key, maxRetries = 0) => new OpenAI({ apiKey, maxRetries, baseURL: `${app.url}/v1` });
const anthropic = (apiKey = key, maxRetries = 0) => new Anthropic({ apiKey, maxRetries, baseURL: app.url });

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
const cutBehind =
  (...events: string[]): Answer =>
  ({ socket }) => {
    socket.write(STREAM_HEAD);
    socket.end(Buffer.concat(events.map(chunk)));
  };

const hangUp: Answer = ({ socket }) => socket.end();

describe('the SDK of OpenAI', () => {
  it('gets an answer, with the id of the request', async () => {
    upstream.answer = answerWith('{"id":"c","choices":[{"message":{"role":"assistant","content":"Hello"}}]}');
    const completion = await openai().chat.completions.create(ask);
    expect(completion.choices[0]!.message.content).toBe('Hello');
    expect(completion._request_id).toMatch(/./);
  });

  it('gets a stream, and the usage alone when it asked for it', async () => {
    const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
    const last = `data: ${JSON.stringify({ choices: [], usage })}\n\n`;
    upstream.answer = answerWithEvents(chatEvent('Hel'), chatEvent('lo'), last, 'data: [DONE]\n\n');
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

  it.each<[string, Answer, string | undefined, unknown, object]>([
    [
      ...(['a bad key', answerWith('{}'), 'mk_bad', OpenAI.AuthenticationError] as const),
      { status: 401, code: 'invalid_proxy_key', type: 'authentication_error' },
    ],
    [
      ...(['no answer in time', () => undefined, undefined, OpenAI.InternalServerError] as const),
      { status: 504, code: 'upstream_timeout', type: 'timeout_error' },
    ],
    [
      ...(['an upstream that hangs up', hangUp, undefined, OpenAI.InternalServerError] as const),
      { status: 502, code: 'upstream_unreachable', message: '502 no upstream could be reached' },
    ],
    [
      ...([
        'a 400',
        answerWith('{"error":{"message":"too long","code":"context","type":"t","param":"p"}}', {
          status: 400,
        }),
      ] as const),
      ...([undefined, OpenAI.BadRequestError] as const),
      { status: 400, code: 'context', type: 't', param: 'p', message: '400 too long' },
    ],
    [
      ...(['a 429', answerWith('{"error":{"message":"slow down"}}', { status: 429 }), undefined] as const),
      ...([OpenAI.RateLimitError] as const),
      { status: 429, message: '429 slow down' },
    ],
    [
      ...(['a 500', answerWith('{"error":{"message":"oh"}}', { status: 500 }), undefined] as const),
      ...([OpenAI.InternalServerError] as const),
      { status: 500, message: '500 oh' },
    ],
  ])('has its own error for %s', async (_what, answer, secret, kind, details) => {
    upstream.answer = answer;
    const failure = await openai(secret)
      .chat.completions.create(ask)
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(kind);
    expect(failure).toMatchObject({ ...details, requestID: expect.any(String) });
  });

  it('throws where a stream is cut', async () => {
    upstream.answer = cutBehind(chatEvent('Hel'));
    const stream = await openai().chat.completions.create({ ...ask, stream: true });
    const read = async () => {
      for await (const { choices } of stream) expect(choices[0]!.delta.content).toBe('Hel');
    };
    await expect(read()).rejects.toMatchObject({ code: 'stream_interrupted' });
    await expect(read()).rejects.toThrow();
  });

  it('throws where a stream of Responses is cut', async () => {
    upstream.answer = cutBehind(
      'event: response.created\ndata: {"type":"response.created","sequence_number":0}\n\n',
    );
    const stream = await openai().responses.create({ model: 'm', input: 'Hi', stream: true });
    const read = async () => {
      for await (const { type } of stream) expect(type).toBe('response.created');
    };
    await expect(read()).rejects.toMatchObject({ code: 'stream_interrupted' });
  });

  it('tries again what failed, but not an empty pool', async () => {
    upstream.answer = (request) =>
      (upstream.requests.length < 3
        ? answerWith('{}', { status: 500, headers: 'retry-after-ms: 1\r\n' })
        : answerWith('{"id":"third"}'))(request);
    expect((await openai(key, 2).chat.completions.create(ask)).id).toBe('third');
    const beganAt = performance.now();
    const failure = await openai(emptyKey, 5)
      .chat.completions.create(ask)
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ status: 503, code: 'no_upstream' });
    expect(performance.now() - beganAt).toBeLessThan(400); // the shortest pause of the SDK
  });

  it('ends the upstream’s work by aborting', async () => {
    upstream.answer = ({ socket }) => {
      socket.write(STREAM_HEAD);
      socket.write(chunk(chatEvent('Hi')));
    };
    const stream = await openai().chat.completions.create({ ...ask, stream: true });
    for await (const _each of stream) stream.controller.abort();
    await eventually(() => expect(upstream.requests[0]!.socket.destroyed).toBe(true));
  });

  it('lists models', async () => {
    upstream.answer = answerWith('{"data":[{"id":"b","object":"model"},{"id":"a","object":"model"}]}');
    const ids = [];
    for await (const { id } of openai().models.list()) ids.push(id);
    expect(ids).toEqual(['b', 'a']);
  });
});

describe('the SDK of Anthropic', () => {
  it('gets an answer, with the id of the request', async () => {
    upstream.answer = answerWith(JSON.stringify({ ...MESSAGE, content: [{ type: 'text', text: 'Hello' }] }));
    const message = await anthropic().messages.create(askAnthropic);
    expect(message.content).toEqual([{ type: 'text', text: 'Hello' }]);
    expect(message._request_id).toMatch(/./);
  });

  it('gets a stream', async () => {
    upstream.answer = answerWithEvents(...START, delta('Hel'), delta('lo'), ...END);
    const message = await anthropic().messages.stream(askAnthropic).finalMessage();
    expect(message).toMatchObject({
      content: [{ type: 'text', text: 'Hello' }],
      usage: { input_tokens: 3, output_tokens: 5 },
    });
  });

  it.each<[string, Answer, string | undefined, unknown, number, string]>([
    ['a bad key', answerWith('{}'), 'mk_bad', Anthropic.AuthenticationError, 401, 'authentication_error'],
    ['no answer in time', () => undefined, undefined, Anthropic.InternalServerError, 504, 'timeout_error'],
    ['an upstream that hangs up', hangUp, undefined, Anthropic.InternalServerError, 502, 'api_error'],
    [
      ...([
        'a 400',
        answerWith('{"type":"error","error":{"type":"invalid_request_error"}}', { status: 400 }),
      ] as const),
      ...([undefined, Anthropic.BadRequestError, 400, 'invalid_request_error'] as const),
    ],
    [
      ...([
        'a 529',
        answerWith('{"type":"error","error":{"type":"overloaded_error"}}', { status: 529 }),
      ] as const),
      ...([undefined, Anthropic.InternalServerError, 529, 'overloaded_error'] as const),
    ],
  ])('has its own error for %s', async (_what, answer, secret, kind, status, type) => {
    upstream.answer = answer;
    const failure = await anthropic(secret)
      .messages.create(askAnthropic)
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(kind);
    expect(failure).toMatchObject({
      ...{ status, requestID: expect.any(String) },
      error: { type: 'error', error: { type } },
    });
  });

  it('throws where a stream is cut', async () => {
    upstream.answer = cutBehind(...START, delta('Hel'));
    const stream = await anthropic().messages.create({ ...askAnthropic, stream: true });
    const types: string[] = [];
    const read = async () => {
      for await (const { type } of stream) types.push(type);
    };
    await expect(read()).rejects.toThrow('stream_interrupted');
    expect(types).toEqual(['message_start', 'content_block_start', 'content_block_delta']);
  });

  it('tries again what failed, but not an empty pool', async () => {
    upstream.answer = (request) =>
      (upstream.requests.length < 3
        ? answerWith('{}', { status: 529, headers: 'retry-after-ms: 1\r\n' })
        : answerWith(JSON.stringify({ ...MESSAGE, id: 'third' })))(request);
    expect((await anthropic(key, 2).messages.create(askAnthropic)).id).toBe('third');
    const beganAt = performance.now();
    const failure = await anthropic(emptyKey, 5)
      .messages.create(askAnthropic)
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ status: 503 });
    expect(performance.now() - beganAt).toBeLessThan(400); // the shortest pause of the SDK
  });

  it('ends the upstream’s work by aborting', async () => {
    upstream.answer = ({ socket }) => {
      socket.write(STREAM_HEAD);
      socket.write(chunk(START[0]!));
    };
    const stream = await anthropic().messages.create({ ...askAnthropic, stream: true });
    for await (const _each of stream) stream.controller.abort();
    await eventually(() => expect(upstream.requests[0]!.socket.destroyed).toBe(true));
  });

  it('lists models', async () => {
    upstream.answer = answerWith('{"data":[{"id":"b","object":"model","created":0},{"id":"a"}]}');
    const models = [];
    for await (const model of anthropic().models.list()) models.push(model);
    expect(models.map(({ id, type }) => [id, type])).toEqual([
      ['b', 'model'],
      ['a', 'model'],
    ]);
  });
});
