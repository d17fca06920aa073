import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import type { TestOwner } from '../support/owners.js';
import { call, ownerWith } from '../support/proxy-client.js';
import { respondWith, chunk, LAST_CHUNK, startRawUpstream, STREAM_HEADERS } from '../support/raw-upstream.js';
import type { RawUpstream } from '../support/raw-upstream.js';
import { callRecorded } from '../support/recorded.js';
import { cuts, splitAt } from '../support/splits.js';

const CONTENT = 'data: {"choices":[{"delta":{"content":"ünï 😀"}}],"usage":null}\n\n';
const USAGE = 'data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}\n\n';
const DONE = 'data: [DONE]\n\n';

let app: TestApp;
let upstream: RawUpstream;
let owner: TestOwner;
let key: string;

beforeAll(async () => {
  app = await startApp({ UPSTREAM_PRIVATE_NETWORKS: 'allow' });
  upstream = await startRawUpstream(respondWith('{}'));
  ({ owner, key } = await ownerWith(app, upstream.url));
});
afterAll(async () => {
  await app.close();
  await upstream.close();
});

/** Makes the upstream send a stream in these pieces, each in its own chunk and write. */
function respondInPieces(pieces: readonly Buffer[]): void {
  upstream.respond = ({ socket }) => {
    socket.write(STREAM_HEADERS);
    const writes = [...pieces.filter(({ length }) => length > 0).map(chunk), LAST_CHUNK];
    const next = () => {
      const write = writes.shift();
      if (write !== undefined) socket.write(write, () => setImmediate(next));
    };
    next();
  };
}

const sentBody = () => upstream.requests.at(-1)!.body.toString();

const LAST_CONTENT =
  'data: {"choices":[{"delta":{"content":""},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}\n\n';

it.each([
  ['Mistral, which rejects the option', 'mistral', LAST_CONTENT],
  ['OpenRouter', 'openrouter', USAGE],
])('does not add the option for %s, and the client gets the usage anyway', async (_who, provider, last) => {
  const other = await ownerWith(app, { url: upstream.url, provider });
  respondInPieces([Buffer.from(CONTENT + last + DONE)]);
  const body = '{"stream" : true}';
  const { reply, record } = await callRecorded(app, other.owner, other.key, { body });
  expect(sentBody()).toBe(body);
  expect(reply.text).toBe(CONTENT + last + DONE);
  expect(record).toMatchObject({ input_tokens: 1, output_tokens: 2, usage_source: 'provider' });
});

it.each([
  ['missing', '{"stream" : true}', '{"stream_options":{"include_usage":true},"stream" : true}'],
  ['false', '{"stream":true,"stream_options":{"include_usage":false}}', undefined],
  [
    'null',
    '{"stream":true, "stream_options" : null}',
    '{"stream":true, "stream_options" : {"include_usage":true}}',
  ],
  ['escaped names', '{"\\u0073tream":true,"\\u0073tream_options":{"include_usage":false}}', undefined],
])('requests usage if the option is %s, and drops the usage event', async (_what, body, expected) => {
  respondInPieces([Buffer.from(CONTENT + USAGE + DONE)]);
  const { reply, record } = await callRecorded(app, owner, key, { body });
  expect(sentBody()).toBe(expected ?? body.replace('false', 'true'));
  expect(upstream.requests.at(-1)!.headers['content-length']).toBe(String(sentBody().length));
  expect([reply.text, reply.complete]).toEqual([CONTENT + DONE, true]);
  expect(record).toMatchObject({ total_tokens: 3, usage_source: 'provider', outcome: 'ok' });
});

it.each([
  ['without a choice', USAGE],
  [
    'with an empty text',
    'data: {"choices":[{"index":0,"text":""}],"usage":{"prompt_tokens":1,"completion_tokens":2}}\n\n',
  ],
])('requests the usage of a stream of legacy completions, and drops the event %s', async (_what, event) => {
  const content = 'data: {"choices":[{"index":0,"text":"Hi"}],"usage":null}\n\n';
  respondInPieces([Buffer.from(content + event + DONE)]);
  const body = '{"model":"davinci-002","prompt":"Hi","stream":true}';
  const { reply, record } = await callRecorded(app, owner, key, { path: '/v1/completions', body });
  expect(JSON.parse(sentBody())).toEqual({ ...JSON.parse(body), stream_options: { include_usage: true } });
  expect(reply.text).toBe(content + DONE);
  expect(record).toMatchObject({ total_tokens: 3, usage_source: 'provider', path: '/v1/completions' });
});

const TOKENS = '"usage":{"prompt_tokens":1,"completion_tokens":2}';

it.each([
  ['with an empty choice, as LiteLLM sends it', `{"choices":[{"index":0,"delta":{}}],${TOKENS}}`],
  [
    'with a choice of nulls',
    `{"choices":[{"index":0,"delta":{},"finish_reason":null,"logprobs":null}],${TOKENS}}`,
  ],
  ['without choices', `{"object":"chat.completion.chunk",${TOKENS}}`],
  ['with null as choices', `{"choices":null,${TOKENS}}`],
])('drops the usage event also %s', async (_what, event) => {
  respondInPieces([Buffer.from(`${CONTENT}data: ${event}\n\n${DONE}`)]);
  const { reply, record } = await callRecorded(app, owner, key, { body: '{"stream":true}' });
  expect(reply.text).toBe(CONTENT + DONE);
  expect(record).toMatchObject({ input_tokens: 1, output_tokens: 2, usage_source: 'provider' });
});

it.each([
  ['a finish reason', `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],${TOKENS}}`],
  ['a role', `{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}],${TOKENS}}`],
  ['text', `{"choices":[{"index":0,"text":"a"}],${TOKENS}}`],
  ['the result of a filter', `{"choices":[{"index":0,"delta":{},"content_filter_results":{}}],${TOKENS}}`],
  ['a choice that is not an object', `{"choices":["a"],${TOKENS}}`],
  ['a type', `{"type":"usage",${TOKENS}}`],
])('relays an event with usage and %s', async (_what, event) => {
  respondInPieces([Buffer.from(`${CONTENT}data: ${event}\n\n${DONE}`)]);
  const { text } = await call(app, key, { body: '{"stream":true}' });
  expect(text).toBe(`${CONTENT}data: ${event}\n\n${DONE}`);
});

it('drops exactly the usage event, independent of how the stream is split', async () => {
  await fc.assert(
    fc.asyncProperty(cuts, fc.boolean(), async (places, hasCrLf) => {
      const written = (text: string) => (hasCrLf ? text.replaceAll('\n', '\r\n') : text);
      respondInPieces(splitAt(Buffer.from(written(CONTENT + USAGE + CONTENT + DONE)), places));
      const { text, complete } = await call(app, key, { body: '{"stream":true}' });
      expect([text, complete]).toEqual([written(CONTENT + CONTENT + DONE), true]);
    }),
    { numRuns: 60 },
  );
});

it('drops the length of a stream without the usage event', async () => {
  const stream = CONTENT + USAGE + DONE;
  upstream.respond = respondWith(stream, { type: 'text/event-stream' });
  const { text, headers, complete } = await call(app, key, { body: '{"stream":true}' });
  expect([text, headers['content-length'], complete]).toEqual([CONTENT + DONE, undefined, true]);
});

it.each<[string, string, string | Buffer, Record<string, string>]>([
  [
    'of a client that asks for usage',
    '/v1/chat/completions',
    '{"stream":true,"stream_options":{"include_usage":true}}',
    {},
  ],
  ['of responses', '/v1/responses', '{"stream":true}', {}],
  ['of messages', '/v1/messages', '{"stream":true}', {}],
  ['without a stream', '/v1/chat/completions', '{"stream":false}', {}],
  ['with invalid JSON', '/v1/chat/completions', '{"stream":true', {}],
  ['that is compressed', '/v1/chat/completions', gzipSync('{"stream":true}'), { 'content-encoding': 'gzip' }],
])('relays a request %s and its response unchanged', async (_what, path, body, headers) => {
  respondInPieces([Buffer.from(CONTENT + USAGE + DONE)]);
  const { text } = await call(app, key, { path, body, headers });
  expect(upstream.requests.at(-1)!.body.equals(Buffer.from(body))).toBe(true);
  expect(text).toBe(CONTENT + USAGE + DONE);
});
