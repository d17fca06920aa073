import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { firstCodePoints } from '../../src/common/text/text.js';
import { LIST_TIMEOUT_MS, ModelList } from '../../src/proxy/models/model-list.js';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { call, open, ownerWith } from '../support/proxy-client.js';
import type { PoolEntry } from '../support/proxy-client.js';
import { respondRaw, respondWith, chunk, LAST_CHUNK, startRawUpstream } from '../support/raw-upstream.js';
import type { Responder, RawRequest, RawUpstream } from '../support/raw-upstream.js';
import { recordOf } from '../support/recorded.js';
import { undisturbed } from '../support/standstill.js';

/** Upstreams, service and client share one process, which may be slow. */
const LONG_TIMEOUT_MS = 300_000;

let app: TestApp;
let upstreams: RawUpstream[];

beforeAll(async () => {
  app = await startApp({ UPSTREAM_PRIVATE_NETWORKS: 'allow' });
});
afterAll(() => app.close());
beforeEach(() => setTimeoutMs(LONG_TIMEOUT_MS));
beforeEach(() => (upstreams = []));
afterEach(async () => {
  jest.restoreAllMocks();
  await Promise.all(upstreams.map((upstream) => upstream.close()));
});

const modelList = () => app.app.get(ModelList, { strict: false });

function setTimeoutMs(milliseconds: number): void {
  modelList().timeoutMs = milliseconds;
}

type PoolMember = Responder | [Responder, Partial<PoolEntry>];

/** Creates a pool of upstreams with these responses. @returns a key of its owner */
async function keyFor(...responses: PoolMember[]): Promise<string> {
  return (await createPool(...responses)).key;
}

/** Creates a pool of upstreams with these responses. @returns a key and its owner */
async function createPool(...responses: PoolMember[]) {
  const entries: PoolEntry[] = [];
  for (const each of responses) {
    const [response, fields] = Array.isArray(each) ? each : [each, {}];
    const upstream = await startRawUpstream(response);
    upstreams.push(upstream);
    entries.push({ url: upstream.url, ...fields });
  }
  return ownerWith(app, ...entries);
}

const list = (...models: object[]) => respondWith(JSON.stringify({ object: 'list', data: models }));
const gpt = (id: string, created = 1_700_000_000) => ({ id, object: 'model', created, owned_by: 'openai' });
const claude = (id: string) => ({
  type: 'model',
  id,
  display_name: id.toUpperCase(),
  created_at: '2025-02-19T00:00:00Z',
});
const modelsOf = (key: string, headers = {}) => call(app, key, { path: '/v1/models', headers });

describe('GET /v1/models', () => {
  it('merges the lists in the order of the upstreams; the first upstream with an id wins', async () => {
    const key = await keyFor(
      [list(gpt('b'), gpt('a', 1)), { priority: 2 }],
      [list(gpt('c'), gpt('a', 2)), { priority: 1 }],
      [list(gpt('b', 3), gpt('d'), gpt('d', 9)), { priority: 3 }],
    );
    const { status, text, headers } = await modelsOf(key, { 'x-request-id': 'list-1' });
    expect([status, headers['content-type'], headers['x-request-id'], headers['request-id']]).toEqual([
      200,
      'application/json; charset=utf-8',
      'list-1',
      'list-1',
    ]);
    expect(headers.vary).toBe('Authorization, X-Api-Key, Api-Key');
    expect(JSON.parse(text)).toEqual({ object: 'list', data: [gpt('c'), gpt('a', 2), gpt('b'), gpt('d')] });
  });

  it('sends each upstream its own API key', async () => {
    const key = await keyFor(
      [list(gpt('a')), { apiKey: 'sk-first-123' }],
      [list(claude('b')), { apiKey: 'sk-ant-12345', provider: 'anthropic' }],
    );
    await modelsOf(key);
    const [first, second] = upstreams.map(({ requests }) => requests[0]!);
    expect([first!.target, second!.target]).toEqual(['/v1/models', '/v1/models?limit=1000']);
    expect(first!.headers).toEqual({
      host: expect.any(String),
      authorization: 'Bearer sk-first-123',
      accept: 'application/json',
    });
    expect(second!.headers).toEqual({
      host: expect.any(String),
      'x-api-key': 'sk-ant-12345',
      accept: 'application/json',
      'anthropic-version': '2023-06-01',
    });
  });

  it('sends upstreams the headers of the client except credentials and conditions', async () => {
    const key = await keyFor(list(gpt('a')), [list(claude('b')), { provider: 'anthropic' }]);
    const passed = {
      'openai-organization': 'org-1',
      'x-portkey-provider': 'openai',
      'anthropic-version': '2099-01-01',
    };
    const { status } = await modelsOf(key, {
      ...passed,
      cookie: 'a=b',
      accept: 'text/html',
      'accept-language': 'de',
      range: 'bytes=0-1',
      'if-none-match': '"a"',
      'if-modified-since': 'Sun, 22 Nov 2026 00:00:00 GMT',
      'content-type': 'text/plain',
    });
    expect(status).toBe(200);
    for (const { requests } of upstreams) {
      const { host: _host, authorization: _bearer, 'x-api-key': _key, ...headers } = requests[0]!.headers;
      expect(headers).toEqual({ ...passed, accept: 'application/json', 'accept-language': 'de' });
    }
  });

  describe('a pool of several providers', () => {
    const mixed = () =>
      keyFor(
        [list(gpt('gpt')), {}],
        [list(claude('claude')), { provider: 'anthropic' }],
        list({ id: 'bare' }),
      );

    it('responds in the format of OpenAI', async () => {
      expect(JSON.parse((await modelsOf(await mixed())).text)).toEqual({
        object: 'list',
        data: [
          gpt('gpt'),
          { id: 'claude', object: 'model', created: 1_739_923_200, owned_by: 'anthropic' },
          { id: 'bare', object: 'model' },
        ],
      });
    });

    it('responds in the format of Anthropic if the client sends anthropic-version', async () => {
      const { text } = await modelsOf(await mixed(), { 'anthropic-version': '2023-06-01' });
      expect(JSON.parse(text)).toEqual({
        data: [
          { type: 'model', id: 'gpt', display_name: 'gpt', created_at: '2023-11-14T22:13:20.000Z' },
          claude('claude'),
          { type: 'model', id: 'bare', display_name: 'bare', created_at: '1970-01-01T00:00:00.000Z' },
        ],
        has_more: false,
        first_id: 'gpt',
        last_id: 'bare',
      });
    });
  });

  const MIB = 1_048_576;

  /** List of one model with this size. */
  function listOf(bytes: number, id = 'a'): string {
    const text = JSON.stringify({ object: 'list', data: [{ ...gpt(id), description: '' }] });
    return text.replace('"description":""', `"description":"${'x'.repeat(bytes - text.length)}"`);
  }

  function inChunks(body: string): Responder {
    const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
    return respondRaw(head, chunk(body), LAST_CHUNK);
  }

  const DEAD: [string, Responder][] = [
    ['is reset by the upstream', ({ socket }) => socket.resetAndDestroy()],
    ['has status 401', respondWith('{"data":[{"id":"evil"}]}', { status: 401 })],
    ['has status 500', respondWith('{"data":[{"id":"evil"}]}', { status: 500 })],
    ['redirects', respondWith('', { status: 302, headers: 'Location: /\r\n' })],
    ['is not JSON', respondWith('<html>')],
    ['has no array of models', respondWith('{"data":{}}')],
    ['is larger than 1 MiB', respondWith(listOf(MIB + 1))],
    ['is larger than 1 MiB, in chunks', inChunks(listOf(MIB + 1))],
    ['is not HTTP', ({ socket }) => socket.write('what?\r\n\r\n')],
    ['is interrupted', ({ socket }) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"data":[')],
    ['never ends', ({ socket }) => socket.write(`HTTP/1.1 200 OK\r\n\r\n${' '.repeat(5_000_000)}`)],
  ];

  it.each(DEAD)(
    'omits an upstream whose response %s, and is 502 if no list is left',
    async (_description, dead) => {
      const { status, text } = await modelsOf(await keyFor(dead, list(gpt('a')), dead));
      expect([status, JSON.parse(text).data]).toEqual([200, [gpt('a')]]);
      const alone = await modelsOf(await keyFor(dead, dead));
      expect([alone.status, JSON.parse(alone.text).error.code]).toEqual([502, 'upstream_unreachable']);
    },
  );

  it.each([
    ['that is an object without toString', '{"toString":0,"valueOf":0}'],
    ['that is not a time', '"tomorrow"'],
    ['of another type', '[1]'],
  ])('lists a model with a creation time %s', async (_description, time) => {
    const key = await keyFor(respondWith(`{"data":[{"id":"a","type":"model","created_at":${time}}]}`));
    const { status, text } = await modelsOf(key);
    const data = [{ id: 'a', object: 'model', created: 0, owned_by: 'anthropic' }];
    expect([status, JSON.parse(text).data]).toEqual([200, data]);
  });

  it('is 502 if a list is nested deeper than JSON.stringify supports', async () => {
    const depth = 500_000;
    const key = await keyFor(
      respondWith(`{"data":[{"id":"a","x":${'['.repeat(depth)}${']'.repeat(depth)}}]}`),
    );
    const { status, text } = await modelsOf(key);
    expect([status, JSON.parse(text).error.code]).toEqual([502, 'upstream_error']);
  });

  it('omits upstreams that hang before or within their response', () =>
    undisturbed(async () => {
      setTimeoutMs(LIST_TIMEOUT_MS);
      const steps: string[] = [];
      const { owner, key } = await createPool(
        ({ socket }) => socket.on('close', () => steps.push('timeout of the first')),
        list(gpt('a')),
        ({ socket }) => {
          steps.push('request to the last');
          socket.write('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{');
        },
      );
      const id = randomUUID();
      const beganAt = performance.now();
      const { status, text } = await modelsOf(key, { 'x-request-id': id });
      expect([status, JSON.parse(text).data]).toEqual([200, [gpt('a')]]);
      expect(performance.now() - beganAt).toBeGreaterThanOrEqual(LIST_TIMEOUT_MS - 5);
      await eventually(() =>
        expect(upstreams.slice(-3).map(({ sockets }) => sockets.size)).toEqual([0, 1, 0]),
      );
      expect(steps).toEqual(['request to the last', 'timeout of the first']); // the timeouts run in parallel
      const [hanging, good] = (await recordOf(owner, id)).attempts;
      expect(hanging).toMatchObject({ status: null, error: 'timeout' });
      expect(hanging!.ms).toBeGreaterThanOrEqual(LIST_TIMEOUT_MS - 5);
      expect(good).toMatchObject({ status: 200, error: null });
    }));

  it('merges lists of up to 1 MiB completely', async () => {
    const ids = Array.from({ length: 12 }, (_, i) => `model-${i + 10}`);
    const key = await keyFor(...ids.map((id, i) => (i % 2 ? respondWith : inChunks)(listOf(MIB, id))));
    const { status, text } = await modelsOf(key);
    expect(status).toBe(200);
    expect((JSON.parse(text).data as { id: string }[]).map(({ id }) => id)).toEqual(ids);
  });

  it('merges a list of many small entries completely', async () => {
    const models = Array.from({ length: 60_000 }, (_, i) => ({ id: `m${i}` }));
    const key = await keyFor(respondWith(JSON.stringify(models)), list(gpt('m1'), gpt('last')));
    const { data } = JSON.parse((await modelsOf(key)).text) as { data: { id: string }[] };
    expect([data.length, data[59_999]!.id, data.at(-1)]).toEqual([60_001, 'm59999', gpt('last')]);
  });

  describe('concurrent requests of one organization', () => {
    it('run two at a time', async () => {
      const key = await keyFor(() => undefined);
      const [{ requests }] = upstreams as [RawUpstream];
      const asking = [modelsOf(key), modelsOf(key), modelsOf(key)];
      await eventually(() => expect(requests).toHaveLength(2));
      for (let i = 0; i < 50; i++) await nextTurn();
      expect(requests).toHaveLength(2);
      upstreams[0]!.respond = list(gpt('a'));
      upstreams[0]!.respond(requests[0]!);
      await eventually(() => expect(requests).toHaveLength(3));
      upstreams[0]!.respond(requests[1]!);
      expect((await Promise.all(asking)).map(({ status }) => status)).toEqual([200, 200, 200]);
    });

    it('do not wait for the upstreams of another organization', async () => {
      const slow = await keyFor(() => undefined);
      const asking = Array.from({ length: 10 }, () => modelsOf(slow).catch(() => undefined));
      await eventually(() => expect(upstreams[0]!.requests).toHaveLength(2));
      expect((await modelsOf(await keyFor(list(gpt('a'))))).status).toBe(200);
      expect(upstreams[0]!.requests).toHaveLength(2);
      upstreams[0]!.respond = list();
      for (const request of upstreams[0]!.requests) upstreams[0]!.respond(request);
      await Promise.all(asking);
    });

    it('request no list after their client disconnects in the queue', async () => {
      const { owner, key } = await createPool(() => undefined);
      const [{ requests }] = upstreams as [RawUpstream];
      const begun = jest.spyOn(modelList(), 'respond');
      const asking = [modelsOf(key), modelsOf(key)];
      await eventually(() => expect(requests).toHaveLength(2));
      const disconnect = new AbortController();
      const headers = { 'x-request-id': 'left-early' };
      open(app, key, { path: '/v1/models', headers, signal: disconnect.signal }).catch(() => undefined);
      await eventually(() => expect(begun).toHaveBeenCalledTimes(3));
      disconnect.abort();
      expect(await recordOf(owner, 'left-early')).toMatchObject({ outcome: 'client_gone', attempts: [] });
      upstreams[0]!.respond = list();
      for (const request of requests) upstreams[0]!.respond(request);
      await Promise.all(asking);
      await modelsOf(key);
      expect(requests).toHaveLength(3);
    });
  });

  it('omits entries that are not models', async () => {
    const key = await keyFor(respondWith('{"data":[null,1,"x",[],{"id":1},{"id":"a","object":"model"},{}]}'));
    expect(JSON.parse((await modelsOf(key)).text).data).toEqual([{ id: 'a', object: 'model' }]);
  });

  it.each([
    ['is a bare array', '[{"id":"a","object":"model"}]', ['a']],
    ['is null', '{"object":"list","data":null}', []],
  ])('accepts a list that %s', async (_description, body, ids) => {
    const { status, text } = await modelsOf(await keyFor(respondWith(body)));
    expect([status, JSON.parse(text).data.map(({ id }: { id: string }) => id)]).toEqual([200, ids]);
  });

  it('keeps the limit parameter of the client for Anthropic', async () => {
    const key = await keyFor([list(claude('a')), { provider: 'anthropic' }]);
    await call(app, key, { path: '/v1/models?limit=5' });
    expect(upstreams[0]!.requests[0]!.target).toBe('/v1/models?limit=5');
  });

  it('responds with an empty list if all lists are empty', async () => {
    const key = await keyFor(list(), list());
    expect(JSON.parse((await modelsOf(key)).text)).toEqual({ object: 'list', data: [] });
    const { text } = await modelsOf(key, { 'anthropic-version': '2023-06-01' });
    expect(JSON.parse(text)).toEqual({ data: [], has_more: false, first_id: null, last_id: null });
  });

  it('cancels the requests to upstreams at once when the client disconnects', async () => {
    const key = await keyFor(() => undefined);
    const disconnect = new AbortController();
    open(app, key, { path: '/v1/models', signal: disconnect.signal }).catch(() => undefined);
    await eventually(() => expect(upstreams[0]!.requests).toHaveLength(1));
    const closed = new Promise((resolve) => upstreams[0]!.requests[0]!.socket.on('close', resolve));
    disconnect.abort();
    await closed; // long before the timeout
  });

  it('requests the lists of the first 50 upstreams at once, and records ten attempts', async () => {
    const asked: RawRequest[] = [];
    const upstream = await startRawUpstream((request) => asked.push(request));
    upstreams.push(upstream);
    const { owner, key } = await ownerWith(app, ...Array.from({ length: 60 }, () => upstream.url));
    const name = '😀'.repeat(100);
    await app.database.query(`UPDATE upstreams SET name = $1 || id WHERE organization_id = $2`, [
      name,
      owner.organizationId,
    ]);
    const asking = modelsOf(key, { 'x-request-id': 'of-many' });
    await eventually(() => expect(asked).toHaveLength(50));
    upstream.respond = list(gpt('a'));
    for (const request of asked) upstream.respond(request);
    expect((await asking).status).toBe(200);
    expect(upstream.requests).toHaveLength(50);
    const { attempts, upstream_name } = await recordOf(owner, 'of-many');
    const stored = firstCodePoints(name, 64);
    expect([...stored]).toHaveLength(64);
    expect([upstream_name, attempts.map((attempt) => attempt.upstream_name)]).toEqual([
      stored,
      Array.from({ length: 10 }, () => stored),
    ]);
  });

  it('relays requests for a single model, and other methods, to the first upstream', async () => {
    const key = await keyFor(respondWith('{"id":"a"}'), list(gpt('b')));
    expect((await call(app, key, { path: '/v1/models/a' })).text).toBe('{"id":"a"}');
    expect((await call(app, key, { path: '/v1/models', body: '{}' })).text).toBe('{"id":"a"}');
    expect(upstreams[1]!.requests).toEqual([]);
  });
});
