import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { UsageRecord } from '../../src/usage/record/usage-record.js';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import type { TestOwner } from '../support/owners.js';
import { open, ownerWith } from '../support/proxy-client.js';
import type { Call } from '../support/proxy-client.js';
import {
  respondRaw,
  respondWith,
  respondWithEvents,
  chunk,
  LAST_CHUNK,
  startRawUpstream,
  STREAM_HEADERS,
  thenClose,
} from '../support/raw-upstream.js';
import type { Responder, RawUpstream } from '../support/raw-upstream.js';
import { callRecorded, recordOf } from '../support/recorded.js';

const ROUNDING_MS = 1;
const IDLE_MS = 300;

let app: TestApp;
/** Replica with short timeouts. */
let impatient: TestApp;
let upstream: RawUpstream;
let owner: TestOwner;
let key: string;

beforeAll(async () => {
  app = await startApp({ UPSTREAM_PRIVATE_NETWORKS: 'allow', PROXY_BODY_LIMIT: '1000000' });
  const timeouts = { UPSTREAM_RESPONSE_TIMEOUT_MS: '300', UPSTREAM_IDLE_TIMEOUT_MS: String(IDLE_MS) };
  impatient = await startApp({ UPSTREAM_PRIVATE_NETWORKS: 'allow', ...timeouts }, app);
  upstream = await startRawUpstream(respondWith('{}'));
  ({ owner, key } = await ownerWith(app, { url: upstream.url, provider: 'openai' }));
});
afterAll(async () => {
  await impatient.close();
  await app.close();
  await upstream.close();
});

/** Sends a request to an upstream with this response and returns the usage record. */
async function recorded(
  responder: Responder,
  options: Call = { body: '{}' },
  by = app,
): Promise<UsageRecord> {
  upstream.respond = responder;
  return (await callRecorded(by, owner, key, options)).record;
}

const hang: Responder = () => undefined;

const event = (data: object, name?: string) =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
const NO_TOKENS = {
  input_tokens: null,
  cached_input_tokens: null,
  output_tokens: null,
  total_tokens: null,
  usage_source: 'none',
};
/** Usage of a stream that ended before its figures. */
const INCOMPLETE = { ...NO_TOKENS, usage_source: 'partial' };
const tokens = (
  input: number | null,
  cached: number | null,
  output: number | null,
  total: number | null,
  source = 'provider',
) => ({
  input_tokens: input,
  cached_input_tokens: cached,
  output_tokens: output,
  total_tokens: total,
  usage_source: source,
});

const DETAILS = { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 4 } };
const CONTENT = event({ choices: [{ delta: { content: 'Hi' } }] });
const ANTHROPIC = {
  input_tokens: 10,
  output_tokens: 5,
  cache_creation_input_tokens: 20,
  cache_read_input_tokens: 300,
};
const RESPONSES = { input_tokens: 10, output_tokens: 5, input_tokens_details: { cached_tokens: 4 } };
const DONE = 'data: [DONE]\n\n';

describe('outcome', () => {
  it('is ok for a complete response; the record has all fields', async () => {
    const before = Date.now();
    const person = await ownerWith(app, { url: upstream.url, provider: 'mistral' });
    upstream.respond = respondWith('{"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}}');
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
      ...{ cache_write_tokens: null, reasoning_tokens: null, upstream_model: null },
      ...{ cost_usd: expect.any(Number), price_source: 'list' },
    });
    const at = Date.parse(record.at);
    expect(at).toBeGreaterThanOrEqual(before);
    expect(at).toBeLessThanOrEqual(Date.now());
  });

  it.each([400, 401, 404, 429])('is client_error for status %i of the upstream', async (status) => {
    const record = await recorded(respondWith('{"error":{}}', { status }));
    expect(record).toMatchObject({ status, outcome: 'client_error', ...NO_TOKENS });
    expect(record.attempts).toMatchObject([{ status, error: null }]);
  });

  it('is client_error for a body that is too large and for an invalid path', async () => {
    const large = await recorded(respondWith('{}'), { body: Buffer.alloc(1_000_001) });
    expect(large).toMatchObject({ status: 413, outcome: 'client_error', upstream_id: null, attempts: [] });
    const astray = await recorded(respondWith('{}'), { path: '/v1/../admin', body: '{"model":"m"}' });
    expect(astray).toMatchObject({ status: 404, outcome: 'client_error', upstream_id: null, attempts: [] });
    expect(astray).toMatchObject({ provider: null, upstream_name: null, model: 'm', ttft_ms: null });
  });

  it('records at most 1,024 characters of the path', async () => {
    const path = `/v1/${'x'.repeat(5_000)}`;
    expect((await recorded(respondWith('{}'), { path })).path).toBe(path.slice(0, 1_024));
  });

  it.each<[string, Responder, number, object]>([
    ['a response with status 500', respondWith('{}', { status: 500 }), 500, { status: 500, error: 'status' }],
    ['a reset', ({ socket }) => socket.resetAndDestroy(), 502, { status: null, error: 'reset' }],
    ['a response that is not HTTP', respondRaw('SSH-2.0\r\n\r\n'), 502, { status: null, error: 'malformed' }],
    ['a line that is not HTTP', respondRaw('SSH-2.0\r\n'), 502, { status: null, error: 'malformed' }],
    [
      'line feeds without carriage returns',
      respondRaw('HTTP/1.1 200 OK\n\n'),
      502,
      { status: null, error: 'malformed' },
    ],
    ['no response in time', hang, 504, { status: null, error: 'timeout' }],
    ['a redirect', respondWith('', { status: 302 }), 502, { status: 302, error: 'redirect' }],
    [
      'a stream that starts with an error',
      respondWithEvents(event({ error: { type: 'server_error' } })),
      200,
      { status: 200, error: 'stream_error' },
    ],
  ])('is upstream_error for %s', async (_what, responder, status, attempt) => {
    const record = await recorded(responder, undefined, responder === hang ? impatient : app);
    expect(record).toMatchObject({ status, outcome: 'upstream_error', ...NO_TOKENS });
    expect(record.attempts).toMatchObject([attempt]);
    expect(record.upstream_id).toBe(record.attempts[0]!.upstream_id);
  });

  it.each([
    ['an address where no server listens', 'connect', () => 'http://127.0.0.1:1'],
    ['an unknown host name', 'dns', () => 'http://nowhere.invalid'],
    ['a forbidden address', 'refused', () => 'http://169.254.169.254'],
    ['a server without TLS', 'tls', () => app.url.replace('http:', 'https:')],
  ])('is upstream_error for %s, with the error %s', async (_what, error, urlOf) => {
    const person = await ownerWith(app, upstream.url);
    const url = urlOf();
    await app.database.query('UPDATE upstreams SET base_url = $1 WHERE id = $2', [url, person.ids[0]]);
    const { record } = await callRecorded(app, person.owner, person.key, { body: '{}' });
    expect(record).toMatchObject({ status: 502, outcome: 'upstream_error' });
    expect(record.attempts).toMatchObject([{ status: null, error }]);
  });

  it('is no_upstream for an empty pool', async () => {
    const person = await ownerWith(app);
    const { record } = await callRecorded(app, person.owner, person.key, { body: '{"model":"m"}' });
    expect(record).toMatchObject({ status: 503, outcome: 'no_upstream', model: 'm', attempts: [] });
  });

  it('is interrupted for a stream without a regular end', async () => {
    const text = event({ choices: [{ delta: { content: 'Hi' } }] });
    const record = await recorded(thenClose(respondRaw(STREAM_HEADERS, chunk(text))));
    expect(record).toMatchObject({ status: 200, outcome: 'interrupted', stream: true, ...INCOMPLETE });
    expect(record.ttft_ms).not.toBeNull();
  });

  it.each([
    ['application/json', '{"half":'],
    ['text/event-stream', 'data: {"choices":[]}\n\ndata: {"cho'],
  ])('is interrupted for a reset response of type %s without a length', async (type, text) => {
    const head = `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\n\r\n`;
    const record = await recorded(({ socket }) => {
      socket.write(head + text, () => setTimeout(() => socket.resetAndDestroy(), 20));
    });
    expect(record).toMatchObject({ status: 200, outcome: 'interrupted' });
  });

  it('is interrupted for a truncated response', async () => {
    const record = await recorded(
      thenClose(
        respondRaw('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"us'),
      ),
    );
    expect(record).toMatchObject({ status: 200, outcome: 'interrupted', stream: false, ...NO_TOKENS });
  });

  it('lists every attempt', async () => {
    const [first, second] = [await startRawUpstream(respondWith('', { status: 503 })), upstream];
    const person = await ownerWith(app, 'http://127.0.0.1:1', first.url, second.url);
    upstream.respond = respondWith('{}');
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

describe('an error within a stream makes the outcome interrupted and the usage partial', () => {
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
    ['chat, with a string as error', [content, event({ error: 'engine died' })]],
    ['chat, with a separate error object', [content, event({ object: 'error', message: 'died', code: 500 })]],
    ['messages', [started, event({ type: 'error', error }, 'error')]],
    [
      'responses',
      [
        event({ type: 'response.created', response: { error: null } }, 'response.created'),
        event({ type: 'response.failed', response: failed }, 'response.failed'),
      ],
    ],
  ])('%s', async (_what, events) => {
    for (const responder of [
      respondWithEvents(...events),
      respondRaw(STREAM_HEADERS, ...events.map(chunk), LAST_CHUNK),
    ]) {
      const record = await recorded(responder);
      expect(record).toMatchObject({
        status: 200,
        outcome: 'interrupted',
        ...tokens(3, null, 1, 4, 'partial'),
      });
    }
  });

  it('does not apply to generated text that contains an error', async () => {
    const text = event({ choices: [{ delta: { content: '{"error":{"type":"server_error"}}' } }] });
    expect(await recorded(respondWithEvents(text, DONE))).toMatchObject({ outcome: 'ok' });
  });
});

/** Disconnects the client after these events, while the upstream continues, and returns the usage record. */
async function disconnectAfter(events: readonly string[], path?: string) {
  upstream.respond = respondRaw(STREAM_HEADERS, ...events.map(chunk));
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

describe('a client that disconnects after the last event of a stream has a complete response', () => {
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
    expect(await disconnectAfter(events)).toMatchObject({
      status: 200,
      outcome: 'ok',
      ...tokens(3, null, 4, 7),
    });
  });
});

describe('a client that disconnects after an error event is not client_gone', () => {
  const error = event({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 'error');
  const started = event({ type: 'message_start', message: { usage: { input_tokens: 3, output_tokens: 1 } } });

  it.each<[string, string[], object]>([
    [
      'an error within a stream',
      [started, error],
      { outcome: 'interrupted', ...tokens(3, null, 1, 4, 'partial') },
    ],
    ['an error at the start of a stream', [error], { outcome: 'upstream_error', ...NO_TOKENS }],
  ])('%s', async (_what, events, expected) => {
    const record = await disconnectAfter(events, '/v1/messages');
    expect(record).toMatchObject({ status: 200, ...expected });
  });
});

describe('a client that disconnects', () => {
  /** Disconnects the client before or within the response and returns the usage record. */
  async function disconnect(
    responder: Responder,
    when: 'before the response' | 'within the response',
    body = '{}',
  ) {
    upstream.requests.length = 0;
    upstream.respond = responder;
    const id = randomUUID();
    const leaving = new AbortController();
    const opened = open(app, key, { body, headers: { 'x-request-id': id }, signal: leaving.signal });
    if (when === 'within the response') {
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

  it('is recorded as client_gone with 499 before the response', async () => {
    const record = await disconnect(() => undefined, 'before the response');
    expect(record).toMatchObject({ status: 499, outcome: 'client_gone', ...NO_TOKENS, ttft_ms: null });
    expect(record.attempts).toMatchObject([{ status: null }]);
  });

  it('is recorded as client_gone with 499 within a stream', async () => {
    const text = event({ choices: [{ delta: { content: 'Hi' } }] });
    const record = await disconnect(
      respondRaw(STREAM_HEADERS, chunk(text)),
      'within the response',
      '{"stream":true}',
    );
    expect(record).toMatchObject({ status: 499, outcome: 'client_gone', stream: true, ...INCOMPLETE });
    expect(record.attempts).toMatchObject([{ status: 200, error: null }]);
    expect(record.ttft_ms).not.toBeNull();
  });

  it('is recorded as client_gone with 499 before its body is complete', async () => {
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

  it('is recorded as client_gone with 499 and the figures that have arrived', async () => {
    const start = event({ type: 'message_start', message: { usage: { input_tokens: 9, output_tokens: 1 } } });
    const record = await disconnect(respondRaw(STREAM_HEADERS, chunk(start)), 'within the response');
    expect(record).toMatchObject({ outcome: 'client_gone', ...tokens(9, null, 1, 10, 'partial') });
  });
});

describe('model', () => {
  it.each([
    ['is cut to 200 characters', 'm'.repeat(10_000), 'm'.repeat(200)],
    ['is not cut within a character', `${'m'.repeat(199)}😀`, `${'m'.repeat(199)}\ufffd`],
    ['keeps unusual characters', 'ünï "q" \\ \n 😀 ', 'ünï "q" \\ \n 😀 '],
    ['replaces U+0000', 'a\0b', 'a\ufffdb'],
    ['may be empty', '', ''],
  ])('%s', async (_what, model, shown) => {
    const record = await recorded(respondWith('{}'), { body: JSON.stringify({ model }) });
    expect(record.model).toBe(shown);
  });

  it.each([
    ['a lone surrogate', '{"model":"a\\ud800b"}', 'a\ufffdb'],
    ['an escaped name', '{"\\u006dodel":"a"}', 'a'],
    ['two models: the last one counts', '{"model":"a","model":"b"}', 'b'],
    ['bytes that are not UTF-8', Buffer.from('{"model":"a\xffb"}', 'latin1'), 'a\ufffdb'],
    ['a nested model', '{"x":{"model":"a"}}', null],
    ['a number', '{"model":1}', null],
    ['null', '{"model":null}', null],
    ['invalid JSON', '{"model":"a"', null],
    ['a list', '[{"model":"a"}]', null],
    ['no body', '', null],
  ])('is read from %s', async (_what, body, model) => {
    const record = await recorded(respondWith('{}'), { body });
    expect([record.status, record.model]).toEqual([200, model]);
  });
});

describe('stream flag', () => {
  const chunks = respondWithEvents(event({ choices: [] }));

  it.each<[string, Responder, string, boolean]>([
    ['is set by the request', respondWith('{}'), '{"stream":true}', true],
    ['is set by the response', chunks, '{}', true],
    ['is not set otherwise', respondWith('{}'), '{"stream":false}', false],
    ['is not set by the string "true"', respondWith('{}'), '{"stream":"true"}', false],
  ])('%s', async (_what, responder, body, stream) => {
    expect((await recorded(responder, { body })).stream).toBe(stream);
  });
});

describe('times', () => {
  it('distinguish the first content of a stream from its headers and its end', async () => {
    let socket: Parameters<Responder>[0]['socket'];
    upstream.respond = ({ socket: opened }) => {
      socket = opened;
      socket.write(STREAM_HEADERS);
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

  it('have no first content if the response has none', async () => {
    expect((await recorded(respondWithEvents('data: [DONE]\n\n'))).ttft_ms).toBeNull();
    expect((await recorded(respondWith(''))).ttft_ms).toBeNull();
  });

  it('include the idle timeout that ends a stream', async () => {
    const record = await recorded(
      respondRaw(STREAM_HEADERS, chunk(event({ choices: [{ delta: { content: 'x' } }] }))),
      { body: '{}' },
      impatient,
    );
    expect(record.outcome).toBe('interrupted');
    expect(record.latency_ms).toBeGreaterThanOrEqual(IDLE_MS - ROUNDING_MS);
    expect(record.ttft_ms).toBeLessThan(record.latency_ms);
  });
});

describe('tokens of a response', () => {
  it.each<[string, object, object]>([
    ['chat completions', { choices: [{}], usage: DETAILS }, tokens(10, 4, 5, 15)],
    ['usage before the content', { usage: DETAILS, choices: [{ message: {} }] }, tokens(10, 4, 5, 15)],
    ['completions', { usage: { prompt_tokens: 1, completion_tokens: 2 } }, tokens(1, null, 2, 3)],
    ['embeddings', { usage: { prompt_tokens: 8, total_tokens: 8 } }, tokens(8, null, null, 8)],
    ['responses', { object: 'response', output: [], usage: RESPONSES }, tokens(10, 4, 5, 15)],
    ['messages', { type: 'message', content: [], usage: ANTHROPIC }, tokens(330, 300, 5, 335)],
    ['a usage of zero', { usage: { prompt_tokens: 0, completion_tokens: 0 } }, tokens(0, null, 0, 0)],
    ['an absent usage', { choices: [] }, NO_TOKENS],
    ['a usage of null', { usage: null }, NO_TOKENS],
    ['a usage that is a list', { usage: [1] }, NO_TOKENS],
    ['a nested usage', { a: { usage: DETAILS }, b: [{ usage: DETAILS }] }, NO_TOKENS],
    ['a usage within generated text', { text: '"usage":{"prompt_tokens":1}' }, NO_TOKENS],
    [
      'invalid figures',
      { usage: { prompt_tokens: -1, completion_tokens: '5', total_tokens: 1e300 } },
      NO_TOKENS,
    ],
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
    expect(await recorded(respondWith(JSON.stringify(body)))).toMatchObject(expected);
    const indented = respondWith(`${JSON.stringify(body, undefined, 2)}\n`, {
      type: 'application/json; charset=utf-8',
    });
    expect(await recorded(indented)).toMatchObject(expected);
  });

  it('include reasoning of Gemini, which only the total contains', async () => {
    const google = await ownerWith(app, { url: upstream.url, provider: 'google' });
    const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 105 };
    for (const responder of [
      respondWith(JSON.stringify({ usage })),
      respondWithEvents(event({ choices: [], usage }), DONE),
    ]) {
      upstream.respond = responder;
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
  ])('are not those of a stored object: %s %s', async (method, path) => {
    const body = method === 'POST' ? '{}' : undefined;
    const record = await recorded(respondWith(JSON.stringify({ usage: DETAILS })), { method, path, body });
    expect(record).toMatchObject({ outcome: 'ok', ...NO_TOKENS });
  });

  it('include the passes of a compacted conversation', async () => {
    const path = '/v1/responses/compact';
    const responder = respondWith(JSON.stringify({ object: 'response.compaction', usage: RESPONSES }));
    expect(await recorded(responder, { path, body: '{}' })).toMatchObject(tokens(10, 4, 5, 15));
  });

  it('are found after megabytes of content', async () => {
    const content = JSON.stringify({ data: 'x'.repeat(6_000_000), usage: DETAILS });
    expect(await recorded(respondWith(content))).toMatchObject(tokens(10, 4, 5, 15));
  });

  it('are unknown if the response is compressed or of another type', async () => {
    const body = JSON.stringify({ usage: DETAILS });
    const gzip = respondWith(body, { headers: 'Content-Encoding: gzip\r\n' });
    expect(await recorded(gzip)).toMatchObject(NO_TOKENS);
    expect(await recorded(respondWith(body, { type: 'text/plain' }))).toMatchObject(NO_TOKENS);
  });
});

describe('tokens of a stream', () => {
  const chat = (...events: string[]) => respondWithEvents(CONTENT, ...events, DONE);
  const usageOnly = event({ choices: [], usage: DETAILS });
  const started = event({
    type: 'message_start',
    message: { usage: { ...ANTHROPIC, output_tokens: 1 } },
  });
  const delta = (usage: object) => event({ type: 'message_delta', delta: {}, usage }, 'message_delta');
  const text = event({ type: 'content_block_delta', delta: { text: 'Hi' } }, 'content_block_delta');
  const responses = (type: string, usage: object | null) =>
    respondWithEvents(
      event({ type: 'response.created', response: { usage: null } }, 'response.created'),
      event({ type: 'response.output_text.delta', delta: 'Hi' }, 'response.output_text.delta'),
      event({ type, response: { usage } }, type),
    );

  it.each<[string, Responder, object]>([
    ['chat, in a separate event', chat(usageOnly), tokens(10, 4, 5, 15)],
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
      respondWithEvents(event({ choices: [{ text: 'Hi' }] }), usageOnly, DONE),
      tokens(10, 4, 5, 15),
    ],
    ['responses', responses('response.completed', RESPONSES), tokens(10, 4, 5, 15)],
    ['responses that are incomplete', responses('response.incomplete', RESPONSES), tokens(10, 4, 5, 15)],
    ['responses without usage', responses('response.completed', null), NO_TOKENS],
    ['messages', respondWithEvents(started, text, delta({ output_tokens: 5 })), tokens(330, 300, 5, 335)],
    [
      'messages, twice',
      respondWithEvents(started, text, delta({ output_tokens: 5 }), delta({ output_tokens: 7 })),
      tokens(330, 300, 7, 337),
    ],
    [
      'messages that repeat all figures',
      respondWithEvents(
        started,
        text,
        delta({ input_tokens: 2, cache_read_input_tokens: null, output_tokens: 5 }),
      ),
      tokens(322, 300, 5, 327),
    ],
    [
      'messages without the final figures',
      respondWithEvents(started, text),
      tokens(330, 300, 1, 331, 'partial'),
    ],
    [
      'generated text that contains usage',
      chat(event({ choices: [{ delta: { content: usageOnly } }] })),
      NO_TOKENS,
    ],
    ['with CRLF', respondWithEvents(usageOnly.replaceAll('\n', '\r\n')), tokens(10, 4, 5, 15)],
    ['without a final line end', respondWithEvents(CONTENT, usageOnly.trimEnd()), tokens(10, 4, 5, 15)],
    [
      'without a space after the colon',
      respondWithEvents(CONTENT, usageOnly.replace(': ', ':')),
      tokens(10, 4, 5, 15),
    ],
  ])('%s', async (_what, responder, expected) => {
    expect(await recorded(responder)).toMatchObject({ ...expected, outcome: 'ok', stream: true });
  });

  it.each<[string, string[], object]>([
    ['messages', [started, text], tokens(330, 300, 1, 331, 'partial')],
    ['messages with the final figures', [started, delta({ output_tokens: 5 })], tokens(330, 300, 5, 335)],
    ['chat with its figures', [CONTENT, usageOnly], tokens(10, 4, 5, 15)],
    [
      'chat with cumulative figures',
      [event({ choices: [{ delta: { content: 'x' } }], usage: DETAILS })],
      tokens(10, 4, 5, 15, 'partial'),
    ],
    ['chat', [CONTENT], INCOMPLETE],
  ])('are those that have arrived if it is interrupted: %s', async (_what, events, expected) => {
    const responder = thenClose(respondRaw(STREAM_HEADERS, ...events.map(chunk)));
    expect(await recorded(responder)).toMatchObject({ outcome: 'interrupted', ...expected });
  });
});
