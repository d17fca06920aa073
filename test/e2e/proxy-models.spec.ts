import { setImmediate as turn } from 'node:timers/promises';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { inParallel } from '../support/parallel.js';
import { call, open, ownerWith } from '../support/proxy-client.js';
import type { PoolEntry } from '../support/proxy-client.js';
import { answerWith, startRawUpstream } from '../support/raw-upstream.js';
import type { Answer, RawRequest, RawUpstream } from '../support/raw-upstream.js';
import { recordOf } from '../support/recorded.js';

const PATIENCE_MS = 3_000;

let app: TestApp;
let upstreams: RawUpstream[];

beforeAll(async () => {
  app = await startApp({ UPSTREAM_PRIVATE_NETWORKS: 'allow' });
});
afterAll(() => app.close());
beforeEach(() => (upstreams = []));
afterEach(() => Promise.all(upstreams.map((upstream) => upstream.close())));

type Answering = Answer | [Answer, Partial<PoolEntry>];

/** A key of a pool of upstreams that answer so. */
async function keyFor(...answers: Answering[]): Promise<string> {
  return (await poolOf(...answers)).key;
}

/** The same, with its owner. */
async function poolOf(...answers: Answering[]) {
  const entries: PoolEntry[] = [];
  for (const each of answers) {
    const [answer, fields] = Array.isArray(each) ? each : [each, {}];
    const upstream = await startRawUpstream(answer);
    upstreams.push(upstream);
    entries.push({ url: upstream.url, ...fields });
  }
  return ownerWith(app, ...entries);
}

const list = (...models: object[]) => answerWith(JSON.stringify({ object: 'list', data: models }));
const gpt = (id: string, created = 1_700_000_000) => ({ id, object: 'model', created, owned_by: 'openai' });
const claude = (id: string) => ({
  ...{ type: 'model', id, display_name: id.toUpperCase(), created_at: '2025-02-19T00:00:00Z' },
});
const modelsOf = (key: string, headers = {}) => call(app, key, { path: '/v1/models', headers });

it('are those of all upstreams in their order, each id as the first one has it', async () => {
  const key = await keyFor(
    [list(gpt('b'), gpt('a', 1)), { priority: 2 }],
    [list(gpt('c'), gpt('a', 2)), { priority: 1 }],
    [list(gpt('b', 3), gpt('d'), gpt('d', 9)), { priority: 3 }],
  );
  const { status, text, headers } = await modelsOf(key, { 'x-request-id': 'list-1' });
  expect([status, headers['content-type'], headers['x-request-id'], headers['request-id']]).toEqual([
    ...[200, 'application/json; charset=utf-8', 'list-1', 'list-1'],
  ]);
  expect(JSON.parse(text)).toEqual({ object: 'list', data: [gpt('c'), gpt('a', 2), gpt('b'), gpt('d')] });
});

it('are asked for with the key of each upstream', async () => {
  const key = await keyFor(
    [list(gpt('a')), { apiKey: 'sk-first-123' }],
    [list(claude('b')), { apiKey: 'sk-ant-12345', provider: 'anthropic' }],
  );
  await modelsOf(key);
  const [first, second] = upstreams.map(({ requests }) => requests[0]!);
  expect([first!.target, second!.target]).toEqual(['/v1/models', '/v1/models?limit=1000']);
  expect(first!.headers).toEqual({
    ...{ host: expect.any(String), authorization: 'Bearer sk-first-123', accept: 'application/json' },
  });
  expect(second!.headers).toEqual({
    ...{ host: expect.any(String), 'x-api-key': 'sk-ant-12345', accept: 'application/json' },
    'anthropic-version': '2023-06-01',
  });
});

it('are asked for with the headers of the client, but for its own secrets and what leads to no list', async () => {
  const key = await keyFor(list(gpt('a')), [list(claude('b')), { provider: 'anthropic' }]);
  const passed = {
    'openai-organization': 'org-1',
    'x-portkey-provider': 'openai',
    'anthropic-version': '2099-01-01',
  };
  const { status } = await modelsOf(key, {
    ...{ ...passed, cookie: 'a=b', accept: 'text/html', 'accept-language': 'de', range: 'bytes=0-1' },
    ...{
      'if-none-match': '"a"',
      'if-modified-since': 'Sun, 22 Nov 2026 00:00:00 GMT',
      'content-type': 'text/plain',
    },
  });
  expect(status).toBe(200);
  for (const { requests } of upstreams) {
    const { host: _host, authorization: _bearer, 'x-api-key': _key, ...headers } = requests[0]!.headers;
    expect(headers).toEqual({ ...passed, accept: 'application/json', 'accept-language': 'de' });
  }
});

describe('of mixed providers', () => {
  const mixed = () =>
    keyFor([list(gpt('gpt')), {}], [list(claude('claude')), { provider: 'anthropic' }], list({ id: 'bare' }));

  it('come in the shape of OpenAI', async () => {
    expect(JSON.parse((await modelsOf(await mixed())).text)).toEqual({
      object: 'list',
      data: [
        gpt('gpt'),
        { id: 'claude', object: 'model', created: 1_739_923_200, owned_by: 'anthropic' },
        { id: 'bare', object: 'model' },
      ],
    });
  });

  it('come in the shape of Anthropic for who speaks that', async () => {
    const { text } = await modelsOf(await mixed(), { 'anthropic-version': '2023-06-01' });
    expect(JSON.parse(text)).toEqual({
      data: [
        { type: 'model', id: 'gpt', display_name: 'gpt', created_at: '2023-11-14T22:13:20.000Z' },
        claude('claude'),
        { type: 'model', id: 'bare', display_name: 'bare', created_at: '1970-01-01T00:00:00.000Z' },
      ],
      ...{ has_more: false, first_id: 'gpt', last_id: 'bare' },
    });
  });
});

const DEAD: [string, Answer][] = [
  ['is reset', ({ socket }) => socket.resetAndDestroy()],
  ['answers 401', answerWith('{"data":[{"id":"evil"}]}', { status: 401 })],
  ['answers 500', answerWith('{"data":[{"id":"evil"}]}', { status: 500 })],
  ['redirects', answerWith('', { status: 302, headers: 'Location: /\r\n' })],
  ['is not JSON', answerWith('<html>')],
  ['is no list', answerWith('{"data":{}}')],
  ['is larger than 4 MiB', answerWith(JSON.stringify({ data: [{ id: 'x'.repeat(4_194_304) }] }))],
  ['is not HTTP', ({ socket }) => socket.write('what?\r\n\r\n')],
  ['breaks off', ({ socket }) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"data":[')],
  ['has no end', ({ socket }) => socket.write(`HTTP/1.1 200 OK\r\n\r\n${' '.repeat(5_000_000)}`)],
];

it.each(DEAD)(
  'come without an upstream whose list %s, and are 502 when there is no other',
  async (_what, dead) => {
    const { status, text } = await modelsOf(await keyFor(dead, list(gpt('a')), dead));
    expect([status, JSON.parse(text).data]).toEqual([200, [gpt('a')]]);
    const alone = await modelsOf(await keyFor(dead, dead));
    expect([alone.status, JSON.parse(alone.text).error.code]).toEqual([502, 'upstream_unreachable']);
  },
);

it.each([
  ['that cannot be made a text', '{"toString":0,"valueOf":0}'],
  ['that is none', '"tomorrow"'],
  ['of another type', '[1]'],
])('where one has a time %s are told all the same', async (_what, time) => {
  const key = await keyFor(answerWith(`{"data":[{"id":"a","type":"model","created_at":${time}}]}`));
  const { status, text } = await modelsOf(key);
  const data = [{ id: 'a', object: 'model', created: 0, owned_by: 'anthropic' }];
  expect([status, JSON.parse(text).data]).toEqual([200, data]);
});

it('are 502 where they are nested deeper than can be written', async () => {
  const depth = 1_000_000;
  const key = await keyFor(answerWith(`{"data":[{"id":"a","x":${'['.repeat(depth)}${']'.repeat(depth)}}]}`));
  const { status, text } = await modelsOf(key);
  expect([status, JSON.parse(text).error.code]).toEqual([502, 'upstream_error']);
});

it('do not wait for upstreams that hang, before their answer or within', async () => {
  const { owner, key } = await poolOf(
    () => undefined,
    list(gpt('a')),
    ({ socket }) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{'),
  );
  const beganAt = performance.now();
  const { status, text } = await modelsOf(key, { 'x-request-id': 'one-hangs' });
  expect([status, JSON.parse(text).data]).toEqual([200, [gpt('a')]]);
  const took = performance.now() - beganAt;
  expect(took).toBeGreaterThanOrEqual(PATIENCE_MS - 5);
  expect(took).toBeLessThan(PATIENCE_MS + 1_500);
  await eventually(() => expect(upstreams.map(({ sockets }) => sockets.size)).toEqual([0, 1, 0]));
  const [hanging, good] = (await recordOf(owner, 'one-hangs')).attempts;
  expect(hanging).toMatchObject({ status: null, error: 'timeout' });
  expect(hanging!.ms).toBeGreaterThanOrEqual(PATIENCE_MS - 5);
  expect(good).toMatchObject({ status: 200, error: null });
});

it('are those of some upstreams where all together are too large, time and again', async () => {
  const large = (id: string) => list({ ...gpt(id), description: 'x'.repeat(3_900_000) });
  const key = await keyFor(...['a', 'b', 'c', 'd'].map(large), list(gpt('small')));
  for (let i = 0; i < 3; i++) {
    const { status, text } = await modelsOf(key);
    expect(status).toBe(200);
    const ids = (JSON.parse(text).data as { id: string }[]).map(({ id }) => id);
    expect(ids.filter((id) => id !== 'small')).toHaveLength(2);
  }
});

it('are there while others hold all that may be held', async () => {
  const endless: Answer = ({ socket }) =>
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 4194304\r\n\r\n${' '.repeat(4_194_300)}`);
  const hogs = await inParallel(5, () => keyFor(endless, endless));
  const key = await keyFor(list({ ...gpt('a'), description: 'x'.repeat(200_000) }));
  const hogging = Promise.all(hogs.map((hog) => modelsOf(hog)));
  await eventually(() => {
    const asked = upstreams.slice(0, 10).every(({ requests }) => requests.length > 0);
    expect(asked).toBe(true);
  });
  expect((await modelsOf(key)).status).toBe(200);
  expect((await hogging).map(({ status }) => status)).toEqual([502, 502, 502, 502, 502]);
});

it('leave out entries that are no models', async () => {
  const key = await keyFor(answerWith('{"data":[null,1,"x",[],{"id":1},{"id":"a","object":"model"},{}]}'));
  expect(JSON.parse((await modelsOf(key)).text).data).toEqual([{ id: 'a', object: 'model' }]);
});

it.each([
  ['is an array alone', '[{"id":"a","object":"model"}]', ['a']],
  ['is null', '{"object":"list","data":null}', []],
])('are there where a list %s', async (_what, body, ids) => {
  const { status, text } = await modelsOf(await keyFor(answerWith(body)));
  expect([status, JSON.parse(text).data.map(({ id }: { id: string }) => id)]).toEqual([200, ids]);
});

it('are as many as the client asks Anthropic for', async () => {
  const key = await keyFor([list(claude('a')), { provider: 'anthropic' }]);
  await call(app, key, { path: '/v1/models?limit=5' });
  expect(upstreams[0]!.requests[0]!.target).toBe('/v1/models?limit=5');
});

it('are none where all lists are empty', async () => {
  const key = await keyFor(list(), list());
  expect(JSON.parse((await modelsOf(key)).text)).toEqual({ object: 'list', data: [] });
  const { text } = await modelsOf(key, { 'anthropic-version': '2023-06-01' });
  expect(JSON.parse(text)).toEqual({ data: [], has_more: false, first_id: null, last_id: null });
});

it('are asked of no upstream any more once the client has left', async () => {
  const key = await keyFor(() => undefined);
  const leaving = new AbortController();
  open(app, key, { path: '/v1/models', signal: leaving.signal }).catch(() => undefined);
  await eventually(() => expect(upstreams[0]!.requests).toHaveLength(1));
  const closed = new Promise((resolve) => upstreams[0]!.requests[0]!.socket.on('close', resolve));
  const leftAt = performance.now();
  leaving.abort();
  await closed;
  expect(performance.now() - leftAt).toBeLessThan(PATIENCE_MS / 2);
});

it('are asked of 50 upstreams at a time', async () => {
  const asked: RawRequest[] = [];
  const upstream = await startRawUpstream((request) => asked.push(request));
  upstreams.push(upstream);
  const { key } = await ownerWith(app, ...Array.from({ length: 60 }, () => upstream.url));
  const asking = modelsOf(key);
  await eventually(() => expect(asked).toHaveLength(50));
  for (let i = 0; i < 50; i++) await turn();
  expect(asked).toHaveLength(50);
  upstream.answer = list(gpt('a'));
  for (const request of asked) upstream.answer(request);
  expect((await asking).status).toBe(200);
  expect(upstream.requests).toHaveLength(60);
});

it('of a single name, and other methods, go to the first upstream alone', async () => {
  const key = await keyFor(answerWith('{"id":"a"}'), list(gpt('b')));
  expect((await call(app, key, { path: '/v1/models/a' })).text).toBe('{"id":"a"}');
  expect((await call(app, key, { path: '/v1/models', body: '{}' })).text).toBe('{"id":"a"}');
  expect(upstreams[1]!.requests).toEqual([]);
});
