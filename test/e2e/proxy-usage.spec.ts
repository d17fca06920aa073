import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { UsageRecord } from '../../src/usage/usage-record.js';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import type { TestOwner } from '../support/owners.js';
import { open, ownerWith } from '../support/proxy-client.js';
import type { Call } from '../support/proxy-client.js';
import {
  answerRaw,
  answerWith,
  answerWithEvents,
  chunk,
  LAST_CHUNK,
  startRawUpstream,
  STREAM_HEAD,
  thenClose,
} from '../support/raw-upstream.js';
import type { Answer, RawUpstream } from '../support/raw-upstream.js';
import { callRecorded, recordOf } from '../support/recorded.js';

const ROUNDING_MS = 1;
const IDLE_MS = 300;

let app: TestApp;
let upstream: RawUpstream;
let owner: TestOwner;
let key: string;

beforeAll(async () => {
  app = await startApp({
    UPSTREAM_PRIVATE_NETWORKS: 'allow',
    UPSTREAM_RESPONSE_TIMEOUT_MS: '300',
    UPSTREAM_IDLE_TIMEOUT_MS: String(IDLE_MS),
    PROXY_BODY_LIMIT: '1000000',
  });
  upstream = await startRawUpstream(answerWith('{}'));
  ({ owner, key } = await ownerWith(app, { url: upstream.url, provider: 'openai' }));
});
afterAll(async () => {
  await app.close();
  await upstream.close();
});

/** What is recorded of a request to the upstream that answers so. */
async function recorded(answer: Answer, options: Call = { body: '{}' }): Promise<UsageRecord> {
  upstream.answer = answer;
  return (await callRecorded(app, owner, key, options)).record;
}

const event = (data: object, name?: string) =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
const NO_TOKENS = {
  ...{ input_tokens: null, cached_input_tokens: null, output_tokens: null, total_tokens: null },
  usage_source: 'none',
};
/** Of a stream that ended before it came to its figures. */
const CUT_SHORT = { ...NO_TOKENS, usage_source: 'partial' };
const tokens = (
  input: number | null,
  cached: number | null,
  output: number | null,
  total: number | null,
  source = 'provider',
) => ({
  ...{ input_tokens: input, cached_input_tokens: cached, output_tokens: output, total_tokens: total },
  usage_source: source,
});

const DETAILS = { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 4 } };
const CONTENT = event({ choices: [{ delta: { content: 'Hi' } }] });
const ANTHROPIC = {
  ...{ input_tokens: 10, output_tokens: 5 },
  ...{ cache_creation_input_tokens: 20, cache_read_input_tokens: 300 },
};
const RESPONSES = { input_tokens: 10, output_tokens: 5, input_tokens_details: { cached_tokens: 4 } };
const DONE = 'data: [DONE]\n\n';

describe('the outcome', () => {
  it('of an answer is ok, with all there is to know of the request', async () => {
    const before = Date.now();
    const person = await ownerWith(app, { url: upstream.url, provider: 'mistral' });
    upstream.answer = answerWith('{"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}}');
    const { reply, record } = await callRecorded(app, person.owner, person.key, {
      path: '/v1/chat/completions?secret=query',
      body: '{"model":"mistral-large"}',
    });
    expect(record).toEqual({
      ...{ id: expect.any(String), request_id: reply.headers['x-request-id'], at: expect.any(String) },
      ...{ organization_id: person.owner.organizationId, user_id: person.owner.user },
      ...{ key_id: expect.any(Number), upstream_id: person.ids[0], upstream_name: expect.any(String) },
      ...{ provider: 'mistral', method: 'POST', path: '/v1/chat/completions', model: 'mistral-large' },
      ...{ stream: false, status: 200, outcome: 'ok', ...tokens(3, null, 4, 7) },
      ...{ latency_ms: expect.any(Number), ttft_ms: expect.any(Number) },
      attempts: [
        {
          ...{ upstream_id: person.ids[0], upstream_name: record.upstream_name, status: 200, error: null },
          ms: expect.any(Number),
        },
      ],
    });
    const at = Date.parse(record.at);
    expect(at).toBeGreaterThanOrEqual(before);
    expect(at).toBeLessThanOrEqual(Date.now());
  });

  it.each([400, 401, 404, 429])('of a %i of the upstream is client_error', async (status) => {
    const record = await recorded(answerWith('{"error":{}}', { status }));
    expect(record).toMatchObject({ status, outcome: 'client_error', ...NO_TOKENS });
    expect(record.attempts).toMatchObject([{ status, error: null }]);
  });

  it('of a body that is too large, and of a path without an upstream, is client_error', async () => {
    const large = await recorded(answerWith('{}'), { body: Buffer.alloc(1_000_001) });
    expect(large).toMatchObject({ status: 413, outcome: 'client_error', upstream_id: null, attempts: [] });
    const astray = await recorded(answerWith('{}'), { path: '/v1/../admin', body: '{"model":"m"}' });
    expect(astray).toMatchObject({ status: 404, outcome: 'client_error', upstream_id: null, attempts: [] });
    expect(astray).toMatchObject({ provider: null, upstream_name: null, model: 'm', ttft_ms: null });
  });

  it('has of a path no more than 1,024 characters', async () => {
    const path = `/v1/${'x'.repeat(5_000)}`;
    expect((await recorded(answerWith('{}'), { path })).path).toBe(path.slice(0, 1_024));
  });

  it.each<[string, Answer, number, object]>([
    ['an answer of 500', answerWith('{}', { status: 500 }), 500, { status: 500, error: 'status' }],
    ['a reset', ({ socket }) => socket.resetAndDestroy(), 502, { status: null, error: 'reset' }],
    ['what is not HTTP', answerRaw('SSH-2.0\r\n\r\n'), 502, { status: null, error: 'malformed' }],
    ['a line that is not HTTP', answerRaw('SSH-2.0\r\n'), 502, { status: null, error: 'malformed' }],
    ['line feeds alone', answerRaw('HTTP/1.1 200 OK\n\n'), 502, { status: null, error: 'malformed' }],
    ['no answer in time', () => undefined, 504, { status: null, error: 'timeout' }],
    ['a redirect', answerWith('', { status: 302 }), 502, { status: 302, error: 'redirect' }],
    [
      'a stream that begins with a failure',
      answerWithEvents(event({ error: { type: 'server_error' } })),
      200,
      { status: 200, error: 'stream_error' },
    ],
  ])('of %s is upstream_error', async (_what, answer, status, attempt) => {
    const record = await recorded(answer);
    expect(record).toMatchObject({ status, outcome: 'upstream_error', ...NO_TOKENS });
    expect(record.attempts).toMatchObject([attempt]);
    expect(record.upstream_id).toBe(record.attempts[0]!.upstream_id);
  });

  it.each([
    ['an address where nobody listens', 'connect', () => 'http://127.0.0.1:1'],
    ['a name of nobody', 'dns', () => 'http://nowhere.invalid'],
    ['an address that no upstream may have', 'refused', () => 'http://169.254.169.254'],
    ['who does not speak TLS', 'tls', () => app.url.replace('http:', 'https:')],
  ])('of %s is upstream_error by %s', async (_what, error, urlOf) => {
    const person = await ownerWith(app, upstream.url);
    const url = urlOf();
    await app.database.query('UPDATE upstreams SET base_url = $1 WHERE id = $2', [url, person.ids[0]]);
    const { record } = await callRecorded(app, person.owner, person.key, { body: '{}' });
    expect(record).toMatchObject({ status: 502, outcome: 'upstream_error' });
    expect(record.attempts).toMatchObject([{ status: null, error }]);
  });

  it('of an empty pool is no_upstream', async () => {
    const person = await ownerWith(app);
    const { record } = await callRecorded(app, person.owner, person.key, { body: '{"model":"m"}' });
    expect(record).toMatchObject({ status: 503, outcome: 'no_upstream', model: 'm', attempts: [] });
  });

  it('of a stream that was cut is interrupted', async () => {
    const text = event({ choices: [{ delta: { content: 'Hi' } }] });
    const record = await recorded(thenClose(answerRaw(STREAM_HEAD, chunk(text))));
    expect(record).toMatchObject({ status: 200, outcome: 'interrupted', stream: true, ...CUT_SHORT });
    expect(record.ttft_ms).not.toBeNull();
  });

  it.each([
    ['application/json', '{"half":'],
    ['text/event-stream', 'data: {"choices":[]}\n\ndata: {"cho'],
  ])('of %s without a length that is reset is interrupted', async (type, text) => {
    const head = `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\n\r\n`;
    const record = await recorded(({ socket }) => {
      socket.write(head + text, () => setTimeout(() => socket.resetAndDestroy(), 20));
    });
    expect(record).toMatchObject({ status: 200, outcome: 'interrupted' });
  });

  it('of another answer that was cut is interrupted', async () => {
    const record = await recorded(
      thenClose(
        answerRaw('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"us'),
      ),
    );
    expect(record).toMatchObject({ status: 200, outcome: 'interrupted', stream: false, ...NO_TOKENS });
  });

  it('lists every upstream that was tried', async () => {
    const [first, second] = [await startRawUpstream(answerWith('', { status: 503 })), upstream];
    const person = await ownerWith(app, 'http://127.0.0.1:1', first.url, second.url);
    upstream.answer = answerWith('{}');
    const { record } = await callRecorded(app, person.owner, person.key, { body: '{}' });
    expect(record).toMatchObject({ outcome: 'ok', upstream_id: person.ids[2] });
    expect(record.attempts).toMatchObject([
      { upstream_id: person.ids[0], status: null, error: 'connect' },
      { upstream_id: person.ids[1], status: 503, error: 'status' },
      { upstream_id: person.ids[2], status: 200, error: null },
    ]);
    const spent = record.attempts.reduce((sum, { ms }) => sum + ms, 0);
    expect(spent).toBeLessThanOrEqual(record.latency_ms + ROUNDING_MS);
    await first.close();
  });
});

describe('an error within a stream makes it interrupted, and its figures partial', () => {
  const content = event({
    choices: [{ delta: { content: 'Hi' } }],
    usage: { prompt_tokens: 3, completion_tokens: 1 },
  });
  const started = event({ type: 'message_start', message: { usage: { input_tokens: 3, output_tokens: 1 } } });
  const error = { type: 'overloaded_error', message: 'Overloaded' };
  const failed = {
    status: 'failed',
    error: { code: 'server_error' },
    usage: { input_tokens: 3, output_tokens: 1 },
  };

  it.each<[string, string[]]>([
    ['chat', [content, event({ error: { type: 'server_error', code: 500 } }), DONE]],
    ['chat, as a text', [content, event({ error: 'engine died' })]],
    ['chat, as an object of its own', [content, event({ object: 'error', message: 'died', code: 500 })]],
    ['messages', [started, event({ type: 'error', error }, 'error')]],
    [
      'responses',
      [
        event({ type: 'response.created', response: { error: null } }, 'response.created'),
        event({ type: 'response.failed', response: failed }, 'response.failed'),
      ],
    ],
  ])('%s', async (_what, events) => {
    for (const answer of [
      answerWithEvents(...events),
      answerRaw(STREAM_HEAD, ...events.map(chunk), LAST_CHUNK),
    ]) {
      const record = await recorded(answer);
      expect(record).toMatchObject({
        status: 200,
        outcome: 'interrupted',
        ...tokens(3, null, 1, 4, 'partial'),
      });
    }
  });

  it('but not a text that speaks of one', async () => {
    const text = event({ choices: [{ delta: { content: '{"error":{"type":"server_error"}}' } }] });
    expect(await recorded(answerWithEvents(text, DONE))).toMatchObject({ outcome: 'ok' });
  });
});

/** The record of a client that leaves when it has these events, while the upstream goes on. */
async function leaveBehind(events: readonly string[], path?: string) {
  upstream.answer = answerRaw(STREAM_HEAD, ...events.map(chunk));
  const id = randomUUID();
  const leaving = new AbortController();
  const response = await open(app, key, {
    ...{ path, body: '{"stream":true}', headers: { 'x-request-id': id }, signal: leaving.signal },
  });
  response.on('error', () => undefined);
  let text = '';
  for await (const bytes of response) {
    text += String(bytes);
    if (text.endsWith(events.at(-1)!)) break;
  }
  leaving.abort();
  return recordOf(owner, id);
}

describe('a client that leaves behind the last event of a stream has its answer', () => {
  const usage = { prompt_tokens: 3, completion_tokens: 4 };
  const output = { input_tokens: 3, output_tokens: 4 };

  it.each<[string, string[]]>([
    ['chat', [CONTENT, event({ choices: [], usage }), DONE]],
    [
      'messages',
      [event({ type: 'message_delta', usage: output }), event({ type: 'message_stop' }, 'message_stop')],
    ],
    ['responses', [event({ type: 'response.completed', response: { usage: output, x: 'y'.repeat(100) } })]],
  ])('%s', async (_what, events) => {
    expect(await leaveBehind(events)).toMatchObject({ status: 200, outcome: 'ok', ...tokens(3, null, 4, 7) });
  });
});

describe('a client that leaves behind an error of the upstream has not left for nothing', () => {
  const error = event({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 'error');
  const started = event({ type: 'message_start', message: { usage: { input_tokens: 3, output_tokens: 1 } } });

  it.each<[string, string[], object]>([
    ['within a stream', [started, error], { outcome: 'interrupted', ...tokens(3, null, 1, 4, 'partial') }],
    ['that a stream begins with', [error], { outcome: 'upstream_error', ...NO_TOKENS }],
  ])('%s', async (_what, events, expected) => {
    const record = await leaveBehind(events, '/v1/messages');
    expect(record).toMatchObject({ status: 200, ...expected });
  });
});

describe('a client that leaves is client_gone with 499', () => {
  /** Leaves when the upstream has written so much of its answer, and the client has got this head of it or none. */
  async function leave(answer: Answer, when: 'before the answer' | 'within it', body = '{}') {
    upstream.requests.length = 0;
    upstream.answer = answer;
    const id = randomUUID();
    const leaving = new AbortController();
    const opened = open(app, key, { body, headers: { 'x-request-id': id }, signal: leaving.signal });
    if (when === 'within it') {
      const response = await opened;
      response.on('error', () => undefined);
      await once(response, 'data');
    } else {
      opened.catch(() => undefined);
      await eventually(() => expect(upstream.requests).toHaveLength(1));
    }
    leaving.abort();
    return recordOf(owner, id);
  }

  it('before the answer', async () => {
    const record = await leave(() => undefined, 'before the answer');
    expect(record).toMatchObject({ status: 499, outcome: 'client_gone', ...NO_TOKENS, ttft_ms: null });
    expect(record.attempts).toMatchObject([{ status: null }]);
  });

  it('within a stream', async () => {
    const text = event({ choices: [{ delta: { content: 'Hi' } }] });
    const record = await leave(answerRaw(STREAM_HEAD, chunk(text)), 'within it', '{"stream":true}');
    expect(record).toMatchObject({ status: 499, outcome: 'client_gone', stream: true, ...CUT_SHORT });
    expect(record.attempts).toMatchObject([{ status: 200, error: null }]);
    expect(record.ttft_ms).not.toBeNull();
  });

  it('before its body is complete', async () => {
    const id = randomUUID();
    const leaving = new AbortController();
    const opened = open(app, key, {
      method: 'POST',
      headers: { 'x-request-id': id, 'content-length': '10', expect: '100-continue' },
      signal: leaving.signal,
      continued: () => leaving.abort(),
    });
    await expect(opened).rejects.toThrow();
    expect(await recordOf(owner, id)).toMatchObject({ status: 499, outcome: 'client_gone', attempts: [] });
  });

  it('with the figures that had come', async () => {
    const start = event({ type: 'message_start', message: { usage: { input_tokens: 9, output_tokens: 1 } } });
    const record = await leave(answerRaw(STREAM_HEAD, chunk(start)), 'within it');
    expect(record).toMatchObject({ outcome: 'client_gone', ...tokens(9, null, 1, 10, 'partial') });
  });
});

describe('the model', () => {
  it.each([
    ['is cut to 200 characters', 'm'.repeat(10_000), 'm'.repeat(200)],
    ['is cut within no character', `${'m'.repeat(199)}😀`, `${'m'.repeat(199)}\ufffd`],
    ['keeps what is unusual', 'ünï "q" \\ \n 😀 ', 'ünï "q" \\ \n 😀 '],
    ['has no U+0000', 'a\0b', 'a\ufffdb'],
    ['may be empty', '', ''],
  ])('%s', async (_what, model, shown) => {
    const record = await recorded(answerWith('{}'), { body: JSON.stringify({ model }) });
    expect(record.model).toBe(shown);
  });

  it.each([
    ['a lone surrogate', '{"model":"a\\ud800b"}', 'a\ufffdb'],
    ['an escaped name', '{"\\u006dodel":"a"}', 'a'],
    ['two, of which the last counts', '{"model":"a","model":"b"}', 'b'],
    ['bytes that are not UTF-8', Buffer.from('{"model":"a\xffb"}', 'latin1'), 'a\ufffdb'],
    ['one further down', '{"x":{"model":"a"}}', null],
    ['a number', '{"model":1}', null],
    ['null', '{"model":null}', null],
    ['what is not JSON', '{"model":"a"', null],
    ['a list', '[{"model":"a"}]', null],
    ['no body', '', null],
  ])('is read from %s', async (_what, body, model) => {
    const record = await recorded(answerWith('{}'), { body });
    expect([record.status, record.model]).toEqual([200, model]);
  });
});

describe('the stream flag', () => {
  const chunks = answerWithEvents(event({ choices: [] }));

  it.each<[string, Answer, string, boolean]>([
    ['is set by the request', answerWith('{}'), '{"stream":true}', true],
    ['is set by the answer', chunks, '{}', true],
    ['is not set otherwise', answerWith('{}'), '{"stream":false}', false],
    ['is not set by what only looks true', answerWith('{}'), '{"stream":"true"}', false],
  ])('%s', async (_what, answer, body, stream) => {
    expect((await recorded(answer, { body })).stream).toBe(stream);
  });
});

describe('the times', () => {
  it('tell the first content of a stream from its head and from its end', async () => {
    let socket: Parameters<Answer>[0]['socket'];
    upstream.answer = ({ socket: opened }) => {
      socket = opened;
      socket.write(STREAM_HEAD);
      socket.write(chunk(event({ choices: [{ delta: { role: 'assistant', content: '' } }] })));
    };
    const id = randomUUID();
    const began = performance.now();
    const response = await open(app, key, { body: '{"stream":true}', headers: { 'x-request-id': id } });
    await once(response, 'data');
    const beforeContent = performance.now() - began;
    socket!.write(
      chunk(event({ choices: [{ delta: { role: 'assistant', tool_calls: [], reasoning_details: [] } }] })),
    );
    await once(response, 'data');
    socket!.write(chunk(event({ choices: [{ delta: { content: 'Hi' } }] })));
    await once(response, 'data');
    const content = performance.now() - began;
    socket!.write(chunk('data: [DONE]\n\n'));
    socket!.write(LAST_CHUNK);
    response.resume();
    await once(response, 'end');
    const { ttft_ms, latency_ms } = await recordOf(owner, id);
    expect(ttft_ms).toBeLessThanOrEqual(content);
    expect(ttft_ms).toBeLessThanOrEqual(latency_ms);
    expect(latency_ms).toBeLessThanOrEqual(performance.now() - began);
    expect(beforeContent).toBeLessThan(content);
  });

  it('have no first content where none came', async () => {
    expect((await recorded(answerWithEvents('data: [DONE]\n\n'))).ttft_ms).toBeNull();
    expect((await recorded(answerWith(''))).ttft_ms).toBeNull();
  });

  it('wait for the silence that ends a stream', async () => {
    const record = await recorded(
      answerRaw(STREAM_HEAD, chunk(event({ choices: [{ delta: { content: 'x' } }] }))),
    );
    expect(record.outcome).toBe('interrupted');
    expect(record.latency_ms).toBeGreaterThanOrEqual(IDLE_MS - ROUNDING_MS);
    expect(record.ttft_ms).toBeLessThan(record.latency_ms);
  });
});

describe('the tokens of an answer', () => {
  it.each<[string, object, object]>([
    ['chat completions', { choices: [{}], usage: DETAILS }, tokens(10, 4, 5, 15)],
    ['usage before the content', { usage: DETAILS, choices: [{ message: {} }] }, tokens(10, 4, 5, 15)],
    ['completions', { usage: { prompt_tokens: 1, completion_tokens: 2 } }, tokens(1, null, 2, 3)],
    ['embeddings', { usage: { prompt_tokens: 8, total_tokens: 8 } }, tokens(8, null, null, 8)],
    ['responses', { object: 'response', output: [], usage: RESPONSES }, tokens(10, 4, 5, 15)],
    ['messages', { type: 'message', content: [], usage: ANTHROPIC }, tokens(330, 300, 5, 335)],
    ['nothing that was used', { usage: { prompt_tokens: 0, completion_tokens: 0 } }, tokens(0, null, 0, 0)],
    ['an absent usage', { choices: [] }, NO_TOKENS],
    ['a usage of null', { usage: null }, NO_TOKENS],
    ['a usage that is a list', { usage: [1] }, NO_TOKENS],
    ['a usage further down', { a: { usage: DETAILS }, b: [{ usage: DETAILS }] }, NO_TOKENS],
    ['a usage in a text', { text: '"usage":{"prompt_tokens":1}' }, NO_TOKENS],
    ['odd figures', { usage: { prompt_tokens: -1, completion_tokens: '5', total_tokens: 1e300 } }, NO_TOKENS],
    ['seconds of a transcription', { text: 'a', usage: { type: 'duration', seconds: 27 } }, NO_TOKENS],
    [
      'reasoning beside the output, as xAI has it',
      {
        usage: {
          ...{ prompt_tokens: 32, completion_tokens: 9, total_tokens: 135 },
          completion_tokens_details: { reasoning_tokens: 94 },
        },
      },
      tokens(32, null, 103, 135),
    ],
    [
      'reasoning within the output',
      {
        usage: {
          ...{ prompt_tokens: 32, completion_tokens: 103, total_tokens: 135 },
          completion_tokens_details: { reasoning_tokens: 94 },
        },
      },
      tokens(32, null, 103, 135),
    ],
    [
      'a total that holds something else',
      { usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 105 } },
      tokens(9, null, 3, 12),
    ],
    [
      'a cache as Moonshot tells it',
      { usage: { prompt_tokens: 9, completion_tokens: 3, cached_tokens: 8 } },
      tokens(9, 8, 3, 12),
    ],
    [
      'messages that were condensed on the way',
      {
        usage: {
          ...{ input_tokens: 23_000, output_tokens: 1_000 },
          iterations: [
            { type: 'compaction', input_tokens: 180_000, output_tokens: 3_500, cache_read_input_tokens: 5 },
            { type: 'message', input_tokens: 23_000, output_tokens: 1_000 },
          ],
        },
      },
      tokens(203_005, 5, 4_500, 207_505),
    ],
    [
      'messages with passes that tell a part',
      { usage: { input_tokens: 10, output_tokens: 5, iterations: [{}, { output_tokens: 7 }] } },
      tokens(10, null, 7, 17),
    ],
  ])('%s', async (_what, body, expected) => {
    expect(await recorded(answerWith(JSON.stringify(body)))).toMatchObject(expected);
    const indented = answerWith(`${JSON.stringify(body, undefined, 2)}\n`, {
      type: 'application/json; charset=utf-8',
    });
    expect(await recorded(indented)).toMatchObject(expected);
  });

  it('count reasoning of Gemini, of which only the total tells', async () => {
    const google = await ownerWith(app, { url: upstream.url, provider: 'google' });
    const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 105 };
    for (const answer of [
      answerWith(JSON.stringify({ usage })),
      answerWithEvents(event({ choices: [], usage }), DONE),
    ]) {
      upstream.answer = answer;
      const { record } = await callRecorded(app, google.owner, google.key, { body: '{"stream":true}' });
      expect(record).toMatchObject(tokens(9, null, 96, 105));
    }
  });

  it.each([
    ['GET', '/v1/responses/resp_1'],
    ['GET', '/v1/batches/batch_1'],
    ['GET', '/v1/conversations/conv_1'],
    ['POST', '/v1/chat/completions/chatcmpl-1'],
    ['POST', '/v1/responses/resp_1/cancel'],
    ['POST', '/v1/batches/batch_1/cancel'],
  ])('are not those of an answer of before: %s %s', async (method, path) => {
    const body = method === 'POST' ? '{}' : undefined;
    const record = await recorded(answerWith(JSON.stringify({ usage: DETAILS })), { method, path, body });
    expect(record).toMatchObject({ outcome: 'ok', ...NO_TOKENS });
  });

  it('are those of a conversation that is compacted', async () => {
    const path = '/v1/responses/compact';
    const answer = answerWith(JSON.stringify({ object: 'response.compaction', usage: RESPONSES }));
    expect(await recorded(answer, { path, body: '{}' })).toMatchObject(tokens(10, 4, 5, 15));
  });

  it('are found behind megabytes of content', async () => {
    const content = JSON.stringify({ data: 'x'.repeat(6_000_000), usage: DETAILS });
    expect(await recorded(answerWith(content))).toMatchObject(tokens(10, 4, 5, 15));
  });

  it('are unknown where the answer is compressed, or of another type', async () => {
    const body = JSON.stringify({ usage: DETAILS });
    const gzip = answerWith(body, { headers: 'Content-Encoding: gzip\r\n' });
    expect(await recorded(gzip)).toMatchObject(NO_TOKENS);
    expect(await recorded(answerWith(body, { type: 'text/plain' }))).toMatchObject(NO_TOKENS);
  });
});

describe('the tokens of a stream', () => {
  const chat = (...events: string[]) => answerWithEvents(CONTENT, ...events, DONE);
  const usageOnly = event({ choices: [], usage: DETAILS });
  const started = event({
    type: 'message_start',
    message: { usage: { ...ANTHROPIC, output_tokens: 1 } },
  });
  const delta = (usage: object) => event({ type: 'message_delta', delta: {}, usage }, 'message_delta');
  const text = event({ type: 'content_block_delta', delta: { text: 'Hi' } }, 'content_block_delta');
  const responses = (type: string, usage: object | null) =>
    answerWithEvents(
      event({ type: 'response.created', response: { usage: null } }, 'response.created'),
      event({ type: 'response.output_text.delta', delta: 'Hi' }, 'response.output_text.delta'),
      event({ type, response: { usage } }, type),
    );

  it.each<[string, Answer, object]>([
    ['chat, in an event of its own', chat(usageOnly), tokens(10, 4, 5, 15)],
    [
      'chat, in the last event with content',
      chat(event({ choices: [{ delta: {}, finish_reason: 'stop' }], usage: DETAILS })),
      tokens(10, 4, 5, 15),
    ],
    ['chat, absent', chat(), NO_TOKENS],
    ['chat, null', chat(event({ choices: [], usage: null })), NO_TOKENS],
    [
      'chat, twice',
      chat(event({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } }), usageOnly),
      tokens(10, 4, 5, 15),
    ],
    [
      'chat, with every event',
      chat(
        event({ choices: [{ delta: { content: 'x' } }], usage: { prompt_tokens: 9, completion_tokens: 1 } }),
        event({ choices: [{ delta: { content: 'y' } }], usage: { prompt_tokens: 9, completion_tokens: 2 } }),
      ),
      tokens(9, null, 2, 11),
    ],
    [
      'completions',
      answerWithEvents(event({ choices: [{ text: 'Hi' }] }), usageOnly, DONE),
      tokens(10, 4, 5, 15),
    ],
    ['responses', responses('response.completed', RESPONSES), tokens(10, 4, 5, 15)],
    ['responses that are incomplete', responses('response.incomplete', RESPONSES), tokens(10, 4, 5, 15)],
    ['responses without', responses('response.completed', null), NO_TOKENS],
    ['messages', answerWithEvents(started, text, delta({ output_tokens: 5 })), tokens(330, 300, 5, 335)],
    [
      'messages, twice',
      answerWithEvents(started, text, delta({ output_tokens: 5 }), delta({ output_tokens: 7 })),
      tokens(330, 300, 7, 337),
    ],
    [
      'messages that say all again',
      answerWithEvents(
        started,
        text,
        delta({ input_tokens: 2, cache_read_input_tokens: null, output_tokens: 5 }),
      ),
      tokens(322, 300, 5, 327),
    ],
    [
      'messages without the final figures',
      answerWithEvents(started, text),
      tokens(330, 300, 1, 331, 'partial'),
    ],
    ['a text that speaks of usage', chat(event({ choices: [{ delta: { content: usageOnly } }] })), NO_TOKENS],
    ['with CRLF', answerWithEvents(usageOnly.replaceAll('\n', '\r\n')), tokens(10, 4, 5, 15)],
    ['without a last line end', answerWithEvents(CONTENT, usageOnly.trimEnd()), tokens(10, 4, 5, 15)],
    [
      'without a space behind the colon',
      answerWithEvents(CONTENT, usageOnly.replace(': ', ':')),
      tokens(10, 4, 5, 15),
    ],
  ])('%s', async (_what, answer, expected) => {
    expect(await recorded(answer)).toMatchObject({ ...expected, outcome: 'ok', stream: true });
  });

  it.each<[string, string[], object]>([
    ['messages', [started, text], tokens(330, 300, 1, 331, 'partial')],
    ['messages with the final figures', [started, delta({ output_tokens: 5 })], tokens(330, 300, 5, 335)],
    ['chat with its figures', [CONTENT, usageOnly], tokens(10, 4, 5, 15)],
    [
      'chat with figures so far',
      [event({ choices: [{ delta: { content: 'x' } }], usage: DETAILS })],
      tokens(10, 4, 5, 15, 'partial'),
    ],
    ['chat', [CONTENT], CUT_SHORT],
  ])('that is cut: %s', async (_what, events, expected) => {
    const answer = thenClose(answerRaw(STREAM_HEAD, ...events.map(chunk)));
    expect(await recorded(answer)).toMatchObject({ outcome: 'interrupted', ...expected });
  });
});
