import { once } from 'node:events';
import { createHash, randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { personalOwner } from '../support/owners.js';
import type { TestOwner } from '../support/owners.js';
import { eventually } from '../support/eventually.js';
import { inParallel } from '../support/parallel.js';
import { call, fillPool, mintKey, open, ownerWith, UPSTREAM_KEY } from '../support/proxy-client.js';
import { respondRaw, respondWith, respondWithEvents, startRawUpstream } from '../support/raw-upstream.js';
import type { RawUpstream } from '../support/raw-upstream.js';

const ANSWER = '{"id":"chatcmpl-1","object":"chat.completion","choices":[]}';

let app: TestApp;
let upstream: RawUpstream;
let owner: TestOwner;
let key: string;

beforeAll(async () => {
  app = await startApp({ UPSTREAM_PRIVATE_NETWORKS: 'allow' });
  upstream = await startRawUpstream(respondWith(ANSWER));
  ({ owner, key } = await ownerWith(app, `${upstream.url}/v1`));
});
afterAll(async () => {
  await app.close();
  await upstream.close();
});
beforeEach(() => {
  upstream.respond = respondWith(ANSWER);
  upstream.requests.length = 0;
});

const lastRequest = () => upstream.requests.at(-1)!;
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

describe('proxy key of a request', () => {
  const chat = { body: '{"model":"m"}' };

  it.each(['authorization', 'x-api-key', 'api-key'])('is read from the header %s', async (header) => {
    const value = header === 'authorization' ? `Bearer ${key}` : key;
    const { status } = await call(app, 'none', { ...chat, headers: { authorization: '', [header]: value } });
    expect(status).toBe(200);
  });

  it('is required: a request without a key is 401, in the format of both SDKs', async () => {
    const { status, text, headers } = await call(app, '', { ...chat, headers: { authorization: '' } });
    expect(status).toBe(401);
    expect(JSON.parse(text)).toEqual({
      type: 'error',
      error: {
        type: 'authentication_error',
        message: expect.any(String),
        code: 'missing_proxy_key',
        param: null,
      },
      request_id: headers['x-request-id'],
    });
    expect(headers['request-id']).toBe(headers['x-request-id']);
    expect([headers['www-authenticate'], headers['x-should-retry']]).toEqual(['Bearer', 'false']);
    expect(headers['cache-control']).toBe('no-store');
    expect(upstream.requests).toEqual([]);
  });

  it('is rejected with the same 401 if it is unknown, malformed, revoked or expired', async () => {
    const { body: revoked } = await owner.admin.post('/me/keys').expect(201);
    await owner.admin.delete(`/me/keys/${revoked.id}`).expect(204);
    const { body: expired } = await owner.admin.post('/me/keys').expect(201);
    await app.database.query(`UPDATE proxy_keys SET expires_at = now() - interval '1 second' WHERE id = $1`, [
      expired.id,
    ]);
    const bad = [`mk_${'0'.repeat(42)}`, 'sk-live', revoked.api_key, expired.api_key] as string[];
    const replies = await Promise.all(
      bad.map((secret) => call(app, secret, { ...chat, headers: { 'x-request-id': 'one' } })),
    );
    for (const { status, text, headers } of replies)
      expect([status, text, headers['www-authenticate'], headers['x-should-retry']]).toEqual([
        ...[401, replies[0]!.text, 'Bearer', 'false'],
      ]);
    expect(JSON.parse(replies[0]!.text).error.code).toBe('invalid_proxy_key');
    expect(upstream.requests).toEqual([]);
  });

  it('is rejected before the body is read', async () => {
    const { status } = await call(app, 'sk-nothing', {
      method: 'POST',
      headers: { 'content-length': '1000000' },
    });
    expect(status).toBe(401);
  });

  it('is replaced by the API key of the upstream', async () => {
    await call(app, key, {
      ...chat,
      headers: {
        'x-api-key': 'sk-other',
        'api-key': 'sk-third',
        'x-goog-api-key': 'sk-fourth',
        cookie: 'mintkeep_session=secret',
        cookie2: '$Version=1',
        'proxy-authorization': 'Basic x',
      },
    });
    const { headers } = lastRequest();
    expect(headers.authorization).toBe(`Bearer ${UPSTREAM_KEY}`);
    for (const name of ['x-api-key', 'api-key', 'x-goog-api-key', 'cookie', 'cookie2', 'proxy-authorization'])
      expect(headers).not.toHaveProperty(name);
    expect(JSON.stringify(headers)).not.toContain(key);
  });

  it('is replaced by the header x-api-key for Anthropic', async () => {
    const anthropic = { url: upstream.url, provider: 'anthropic', apiKey: 'sk-ant-12345' } as const;
    const { key: secret } = await ownerWith(app, anthropic);
    await call(app, secret, { path: '/v1/messages', body: '{}' });
    const { headers, target } = lastRequest();
    expect([headers['x-api-key'], headers.authorization, target]).toEqual([
      'sk-ant-12345',
      undefined,
      '/v1/messages',
    ]);
  });
});

describe('request to the upstream', () => {
  it('keeps the method, path, query and body', async () => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD']) {
      const body = method === 'HEAD' || method === 'GET' ? undefined : `{"${method}": 1 }`;
      const { status } = await call(app, key, { method, path: '/v1/files/a%20b?x=1&y=%2F', body });
      const request = lastRequest();
      expect([status, request.method, request.target]).toEqual([200, method, '/v1/files/a%20b?x=1&y=%2F']);
      expect(request.body.toString()).toBe(body ?? '');
    }
  });

  it('has a Content-Length if the method allows a body, also for an empty body', async () => {
    for (const [method, length] of [['POST', '0'], ['PUT', '0'], ['GET'], ['HEAD'], ['DELETE']] as const) {
      await call(app, key, { method });
      expect([method, lastRequest().headers['content-length']]).toEqual([method, length]);
    }
  });

  it('is not sent for TRACE, because the response would show the key', async () => {
    const { status, text, headers } = await call(app, key, { method: 'TRACE' });
    expect([status, JSON.parse(text).error.code]).toEqual([405, 'method_not_allowed']);
    expect(headers.allow).toContain('GET, HEAD, POST');
    expect(upstream.requests).toEqual([]);
  });

  it('is not sent for a WebSocket handshake without its Upgrade header, as load balancers relay it', async () => {
    const headers = { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', 'sec-websocket-version': '13' };
    const reply = await call(app, key, { method: 'GET', path: '/v1/responses', headers });
    expect([reply.status, JSON.parse(reply.text).error.code]).toEqual([426, 'websockets_unsupported']);
    expect(reply.headers.upgrade).toBe('HTTP/1.1');
    expect(upstream.requests).toEqual([]);
  });

  it('has the headers of the client except hop-by-hop, forwarding and credential headers', async () => {
    await call(app, key, {
      body: '{}',
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'anthropic-version': '2023-06-01',
        'x-custom': 'ä'.normalize(),
        'openai-organization': 'org',
        'accept-encoding': 'br',
        'x-forwarded-for': '1.2.3.4',
        forwarded: 'for=1.2.3.4',
        'x-real-ip': '1.2.3.4',
        via: '1.1 x',
        'x-forwarded-proto': 'http',
        'x-original-url': '/v1',
        'true-client-ip': '1.2.3.4',
        'x-client-ip': '1.2.3.4',
        'x-cluster-client-ip': '1.2.3.4',
        'client-ip': '1.2.3.4',
        'cf-connecting-ip': '1.2.3.4',
        'fly-client-ip': '1.2.3.4',
        'fastly-client-ip': '1.2.3.4',
        te: 'trailers',
        upgrade: 'h2c',
        'http2-settings': 'AAA',
        'proxy-connection': 'keep-alive',
        connection: 'keep-alive, content-type, x-hop',
        'x-hop': '1',
        'keep-alive': 'timeout=5',
      },
    });
    expect(lastRequest().headers).toEqual({
      host: new URL(upstream.url).host,
      authorization: `Bearer ${UPSTREAM_KEY}`,
      'content-type': 'application/json; charset=utf-8',
      'anthropic-version': '2023-06-01',
      'x-custom': 'ä',
      'openai-organization': 'org',
      'content-length': '2',
    });
  });

  it.each([
    ['a compressed body', gzipSync('{"model":"m","stream":true}'), { 'content-encoding': 'gzip' }],
    ['a body that is not JSON', Buffer.from('{"model": "m", "stream": true, '), {}],
    ['arbitrary bytes', randomBytes(1_000), { 'content-type': 'application/octet-stream' }],
    ['a body of 30 MiB', Buffer.alloc(30 * 1_048_576, 'x'), {}],
  ])('has the unchanged bytes of %s', async (_description, body, headers) => {
    expect((await call(app, key, { body, headers })).status).toBe(200);
    expect(sha256(lastRequest().body)).toBe(sha256(body));
  });

  it('has a Content-Length for a chunked body', async () => {
    const { status } = await call(app, key, { body: '{"a":1}', headers: { 'transfer-encoding': 'chunked' } });
    const { headers, body } = lastRequest();
    expect([status, body.toString(), headers['content-length'], headers['transfer-encoding']]).toEqual([
      200,
      '{"a":1}',
      '7',
      undefined,
    ]);
  });

  it.each(['/v1/../admin', '/v1/%2e%2e/admin', '/v1/a/..%2f..%2fadmin'])(
    'is not sent for the path %s, which leaves /v1',
    async (path) => {
      const { status, text } = await call(app, key, { path });
      expect([status, JSON.parse(text).error.code]).toEqual([404, 'not_found']);
      expect(upstream.requests).toEqual([]);
    },
  );

  it('is sent for paths below /v1 only', async () => {
    for (const path of ['/v1beta/models', '/v10', '/V1/models']) {
      const { status, text } = await call(app, key, { path });
      expect([status, JSON.parse(text)]).toEqual([404, { error: { message: 'not found' } }]);
    }
    expect((await call(app, key, { path: '/v1' })).status).toBe(200);
    expect(lastRequest().target).toBe('/v1');
  });
});

const VARY = 'Authorization, X-Api-Key, Api-Key';

describe('response to the client', () => {
  it('keeps the status, content type and bytes', async () => {
    const body = randomBytes(300_000);
    upstream.respond = respondWith(body, { status: 207, type: 'audio/mpeg' });
    const reply = await call(app, key, { body: '{}' });
    expect([reply.status, reply.headers['content-type'], sha256(reply.body)]).toEqual([
      207,
      'audio/mpeg',
      sha256(body),
    ]);
  });

  it('has the headers of the upstream except cookies and hop-by-hop headers, and the request id', async () => {
    upstream.respond = respondWith(ANSWER, {
      headers:
        'Set-Cookie: a=b\r\nX-RateLimit-Remaining: 1\r\nX-Request-Id: theirs\r\nRequest-Id: theirs\r\n' +
        'Connection: keep-alive\r\nConnection: X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=60\r\nProxy-Authenticate: x\r\n' +
        'NEL: {}\r\nReport-To: {}\r\nReporting-Endpoints: a="/"\r\nClear-Site-Data: "*"\r\nSet-Cookie2: a=b\r\n' +
        'Alt-Svc: h3=":443"\r\nStrict-Transport-Security: max-age=9\r\nAccess-Control-Allow-Origin: *\r\n' +
        'X-Accel-Redirect: /internal/secret\r\nX-Accel-Buffering: yes\r\nx-ACCEL-anything: 1\r\n' +
        'X-Sendfile: /etc/passwd\r\nX-LIGHTTPD-send-file: /etc/passwd\r\nX-Reproxy-URL: http://10.0.0.1/\r\n' +
        'X-Twice: 1\r\nX-Twice: 2\r\nDate: Sat, 21 Nov 2026 00:00:00 GMT\r\n',
    });
    const { headers } = await call(app, key, { body: '{}', headers: { 'x-request-id': 'mine-1' } });
    expect(headers).toEqual({
      'content-type': 'application/json',
      'content-length': String(ANSWER.length),
      'x-ratelimit-remaining': '1',
      'x-twice': '1, 2',
      date: 'Sat, 21 Nov 2026 00:00:00 GMT',
      'x-request-id': 'mine-1',
      'request-id': 'mine-1',
      connection: 'close',
      vary: VARY,
    });
  });

  describe.each(['keep-alive', 'close'])('sent on a connection with Connection: %s', (connection) => {
    it.each<[string, number, string | undefined]>([
      ['', 200, VARY],
      ['', 429, VARY],
      [
        'Vary: Accept\r\nVary: origin, x-api-key\r\n',
        200,
        `Accept, origin, x-api-key, Authorization, Api-Key`,
      ],
      ['Vary: *\r\n', 200, '*'],
      ['Vary: Accept, *\r\n', 200, 'Accept, *'],
      ['Cache-Control: max-age=60, public\r\n', 200, VARY],
      ['Cache-Control: max-age=60\r\nCache-Control: No-Store\r\n', 200, undefined],
      ['Cache-Control: private\r\nVary: Accept\r\n', 200, 'Accept'],
      ['Cache-Control: private="x-a, no-store", public\r\n', 200, VARY],
      ['Cache-Control: x-private\r\n', 200, VARY],
      ['Connection: Cache-Control\r\nCache-Control: no-store\r\n', 200, VARY],
      ['Connection: Vary\r\nVary: *\r\n', 200, VARY],
    ])('has, for upstream headers %j and status %i, the header Vary: %s', async (lines, status, expected) => {
      upstream.respond = respondWith(ANSWER, { headers: lines, status });
      const { headers } = await call(app, key, { body: '{}', headers: { connection } });
      expect(headers.vary).toBe(expected);
      expect(headers.vary === undefined || headers['content-length']).toBeTruthy();
    });

    it('has no Content-Length with status 204, also for a stream', async () => {
      const head = 'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n';
      for (const type of ['application/json', 'text/event-stream']) {
        upstream.respond = respondRaw(`${head}Content-Type: ${type}\r\n\r\n`);
        const reply = await call(app, key, { method: 'DELETE', headers: { connection } });
        expect(reply).toMatchObject({ status: 204, text: '', complete: true, headers: { vary: VARY } });
        expect(reply.headers).not.toHaveProperty('content-length');
        expect(reply.headers).not.toHaveProperty('transfer-encoding');
      }
    });
  });

  it('is 502 if the upstream responds with 304, because the client has no cached copy', async () => {
    upstream.respond = respondRaw('HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n');
    const { status, headers } = await call(app, key);
    expect([status, headers['cache-control']]).toEqual([502, 'no-store']);
  });

  it.each([400, 401, 403, 404, 409, 422, 429])(
    'is the response of the upstream for status %i',
    async (status) => {
      const second = await startRawUpstream(respondWith(ANSWER));
      const { key: secret } = await ownerWith(app, upstream.url, second.url);
      upstream.respond = respondWith('{"error":"no"}', { status, headers: 'Retry-After: 7\r\n' });
      const reply = await call(app, secret, { body: '{}' });
      expect([reply.status, reply.text, reply.headers['retry-after']]).toEqual([
        status,
        '{"error":"no"}',
        '7',
      ]);
      expect(second.requests).toEqual([]);
      await second.close();
    },
  );

  it('contains an unchanged line of 1 MiB', async () => {
    const event = `data: {"x":"${'y'.repeat(1_048_576)}"}\n\n`;
    upstream.respond = respondWithEvents(event, 'data: [DONE]\n\n');
    const reply = await call(app, key, { body: '{"stream":true}' });
    expect([reply.complete, reply.text === `${event}data: [DONE]\n\n`]).toEqual([true, true]);
  });

  it('contains only the bytes of its own request while others run or are aborted', async () => {
    const largeOf = (body: string) => body.repeat(Math.ceil(300_000 / body.length));
    upstream.respond = (request) => respondWith(largeOf(request.body.toString()))(request);
    const mixedUp: string[] = [];
    await inParallel(40, async (client) => {
      for (let i = 0; i < 10; i++) {
        const body = `{"from":"${client}-${i}"}`;
        const headers = { connection: i % 2 === 0 ? 'keep-alive' : 'close' };
        if (client % 4 === 0) await disconnectWithin(body, headers);
        else if ((await call(app, key, { body, headers })).text !== largeOf(body)) mixedUp.push(body);
      }
    });
    expect(mixedUp).toEqual([]);
  });

  /** Disconnects after the first bytes of the response. */
  async function disconnectWithin(body: string, headers: Record<string, string>): Promise<void> {
    const leaving = new AbortController();
    const response = await open(app, key, { body, headers, signal: leaving.signal });
    await once(response, 'data');
    response.on('error', () => undefined);
    leaving.abort();
  }

  it('has no body for HEAD, 204 and an empty body', async () => {
    upstream.respond = ({ socket }) => socket.write('HTTP/1.1 204 No Content\r\n\r\n');
    expect(await call(app, key, { method: 'DELETE' })).toMatchObject({
      status: 204,
      text: '',
      complete: true,
    });
    upstream.respond = respondWith('');
    expect(await call(app, key)).toMatchObject({ status: 200, text: '', complete: true });
    upstream.respond = respondWith(ANSWER);
    const head = await call(app, key, { method: 'HEAD' });
    expect([head.status, head.headers['content-length']]).toEqual([200, String(ANSWER.length)]);
  });
});

it('rejects a body above the limit, with Content-Length and in chunks, and delivers the rejection', async () => {
  const small = await startApp({ UPSTREAM_PRIVATE_NETWORKS: 'allow', PROXY_BODY_LIMIT: '1000' });
  const { key: secret } = await ownerWith(small, upstream.url);
  for (const headers of [undefined, { 'transfer-encoding': 'chunked' }]) {
    expect((await call(small, secret, { body: Buffer.alloc(1_000), headers })).status).toBe(200);
    const { status, text } = await call(small, secret, { body: Buffer.alloc(1_001), headers });
    expect([status, JSON.parse(text).error.code]).toEqual([413, 'request_too_large']);
  }
  expect(upstream.requests).toHaveLength(2);
  await small.close();
});

it('rejects a request whose pool is empty', async () => {
  const { status, headers, text } = await call(app, await mintKey(await personalOwner(app)), { body: '{}' });
  expect([status, headers['x-should-retry'], JSON.parse(text).error.code]).toEqual([
    503,
    'false',
    'no_upstream',
  ]);
});

describe('a request in a loop', () => {
  it('is rejected after three passes, without failover', async () => {
    const person = await personalOwner(app);
    const own = await mintKey(person);
    const other = await startRawUpstream(respondWith(ANSWER));
    await fillPool(person, ...[app.url, `${app.url}/v1`, other.url].map((url) => ({ url, apiKey: own })));
    const headers = { 'x-request-id': 'loop' };
    const { status, text } = await call(app, own, { body: '{}', headers });
    expect([status, JSON.parse(text).error.code]).toEqual([400, 'loop_detected']);
    expect(other.requests).toEqual([]);
    const passes = await eventually(async () => {
      const { body } = await person.admin.get(`${person.base}/usage/requests`).expect(200);
      expect(body.requests).toHaveLength(4);
      return body.requests as { outcome: string }[];
    });
    expect(passes.every(({ outcome }) => outcome === 'client_error')).toBe(true);
    await other.close();
  });

  it('is rejected after two passes if it is for the model list', async () => {
    const person = await personalOwner(app);
    const own = await mintKey(person);
    await fillPool(person, ...[app.url, `${app.url}/v1`].map((url) => ({ url, apiKey: own })));
    const { status } = await call(app, own, { path: '/v1/models' });
    expect(status).toBe(502);
    const count = async () => (await person.admin.get(`${person.base}/usage/requests`)).body.requests.length;
    await eventually(async () => expect(await count()).toBe(1 + 2 + 4));
  });

  it('carries the loop header only to upstreams with a proxy key', async () => {
    const chained = await ownerWith(app, { url: upstream.url, apiKey: await mintKey(owner) });
    await call(app, chained.key, { body: '{}' });
    expect(lastRequest().headers['cdn-loop']).toBe('mintkeep');
    await call(app, key, { body: '{}' });
    expect(lastRequest().headers).not.toHaveProperty('cdn-loop');
  });
});
