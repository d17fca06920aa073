import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { call, ownerWith } from '../support/proxy-client.js';
import type { PoolEntry, Reply } from '../support/proxy-client.js';
import { callRecorded } from '../support/recorded.js';
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
import type { Responder, RawRequest, RawUpstream } from '../support/raw-upstream.js';
import { undisturbed } from '../support/standstill.js';

const GOOD = '{"from":"good"}';
// Long enough for an upstream in this process to respond while the machine is busy.
const FIRST_BYTE_MS = 1_000;
const RESPONSE_MS = 2_000;
/** Time between two pieces of an endless body. */
const PIECE_MS = 100;

let app: TestApp;
/** Replica with short timeouts. */
let impatient: TestApp;
let bad: RawUpstream;
let good: RawUpstream;
/** Key of a pool with the upstreams `bad` and `good`, in this order. */
let key: string;

beforeAll(async () => {
  app = await startApp({ UPSTREAM_PRIVATE_NETWORKS: 'allow' });
  impatient = await startImpatient({
    UPSTREAM_FIRST_BYTE_TIMEOUT_MS: String(FIRST_BYTE_MS),
    UPSTREAM_RESPONSE_TIMEOUT_MS: String(RESPONSE_MS),
  });
});
afterAll(async () => {
  await impatient.close();
  await app.close();
});

beforeEach(async () => {
  bad = await startRawUpstream(respondWith('{"from":"bad"}'));
  good = await startRawUpstream(respondWith(GOOD));
  key = await keyFor(bad.url, good.url);
});
afterEach(async () => {
  await bad.close();
  await good.close();
});

const startImpatient = (timeouts: NodeJS.ProcessEnv) =>
  startApp({ UPSTREAM_PRIVATE_NETWORKS: 'allow', ...timeouts }, { database: app.database });

async function keyFor(...entries: (PoolEntry | string)[]): Promise<string> {
  return (await ownerWith(app, ...entries)).key;
}

const send = (secret = key, body = '{"model":"m"}', to = app): Promise<Reply> => call(to, secret, { body });
const codeOf = ({ text }: Reply) => JSON.parse(text).error.code as string;

const reset: Responder = ({ socket }) => socket.resetAndDestroy();

describe('the next upstream is tried after', () => {
  it.each<[string, Responder]>([
    ['a reset before any byte', reset],
    ['an end of the connection before any byte', ({ socket }) => socket.end()],
    [
      'a reset within the headers',
      ({ socket }) => socket.write('HTTP/1.1 200 OK\r\nConte', () => socket.resetAndDestroy()),
    ],
    [
      'a malformed chunk directly after the headers',
      respondRaw('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'),
    ],
    ['500', respondWith('{}', { status: 500 })],
    ['502', respondWith('{}', { status: 502 })],
    ['503', respondWith('{}', { status: 503 })],
    ['529', respondWith('{}', { status: 529 })],
    ['599', respondWith('{}', { status: 599 })],
    [
      '500 with a body that never ends',
      respondRaw(`HTTP/1.1 500 Oh\r\nTransfer-Encoding: chunked\r\n\r\n${chunk('x').toString()}`),
    ],
    ['500 with a huge body', respondWith('x'.repeat(20_000_000), { status: 500 })],
    [
      '500 with an interrupted body',
      thenClose(respondRaw('HTTP/1.1 500 Oh\r\nContent-Length: 100\r\n\r\nx')),
    ],
    ['301', respondWith('', { status: 301, headers: 'Location: http://169.254.169.254/\r\n' })],
    ['307', respondWith('', { status: 307, headers: 'Location: /elsewhere\r\n' })],
    ['a response that is not HTTP', respondRaw('SSH-2.0-OpenSSH_9.2\r\n\r\n')],
    ['headers without an end', respondRaw(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}`)],
    [
      'two Content-Length headers',
      respondRaw('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'),
    ],
    ['an unknown transfer coding', respondRaw('HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n')],
    [
      'a header with a control character',
      respondRaw('HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 0\r\n\r\n'),
    ],
    ['a switch of protocols', respondRaw('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n')],
    [
      'an overloaded provider in the first event',
      respondWithEvents(
        'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
      ),
    ],
    [
      'a failed provider in the first event',
      respondWithEvents(
        ': wait\n\n',
        'data: {"error":{"type":"server_error","code":null,"message":"no"}}\n\n',
      ),
    ],
    [
      'a failed provider after a byte order mark',
      respondWithEvents('\ufeffdata: {"error":{"type":"server_error"}}\n\n'),
    ],
    [
      'a failed provider with carriage returns as line ends',
      respondWithEvents('data: {"error":{"type":"server_error"}}\r\rdata: x\r\n'),
    ],
    [
      'a status of 502 in the first event',
      respondWithEvents('data: {"error":{"code":502,"message":"no"}}\n\n'),
    ],
    [
      'a failed response in the first event',
      respondWithEvents(
        'event: response.failed\ndata: {"type":"response.failed","response":{"error":{"code":"server_error"}}}\n\n',
      ),
    ],
    [
      'an end of the stream within the first event',
      ({ socket }) => {
        socket.write(STREAM_HEADERS);
        socket.end(chunk('data: {'));
      },
    ],
  ])('%s', async (_description, response) => {
    bad.respond = response;
    const reply = await send();
    expect([reply.status, reply.text]).toEqual([200, GOOD]);
    expect([bad.requests.length, good.requests.length]).toEqual([1, 1]);
    await eventually(() => expect(bad.sockets.size).toBeLessThanOrEqual(1));
  });

  it('a rejected connection', async () => {
    await bad.close();
    expect((await send()).text).toBe(GOOD);
  });

  it('a name that does not resolve', async () => {
    expect((await send(await keyFor('http://nowhere.invalid', good.url))).text).toBe(GOOD);
  });

  it('a forbidden address', async () => {
    const { key: secret, ids } = await ownerWith(app, bad.url, good.url);
    await app.database.query(`UPDATE upstreams SET base_url = 'http://169.254.169.254' WHERE id = $1`, [
      ids[0],
    ]);
    expect((await send(secret)).text).toBe(GOOD);
    expect(bad.requests).toEqual([]);
  });

  it('a failed TLS handshake', async () => {
    expect((await send(await keyFor(bad.url.replace('http:', 'https:'), good.url))).text).toBe(GOOD);
  });

  it.each([
    ['a stream', '{"stream":true}', FIRST_BYTE_MS],
    ['another response', '{}', RESPONSE_MS],
  ])('a timeout of the first byte of %s', async (_description, body, deadline) => {
    bad.respond = () => undefined;
    await undisturbed(async () => {
      const beganAt = performance.now();
      expect((await send(key, body, impatient)).text).toBe(GOOD);
      expect(performance.now() - beganAt).toBeGreaterThanOrEqual(deadline - 5);
      await eventually(() => expect(bad.sockets.size).toBe(0));
    });
  });

  it.each([
    ['for the first-byte timeout', 'UPSTREAM_FIRST_BYTE_TIMEOUT_MS', '{"stream":true}'],
    ['for the idle timeout', 'UPSTREAM_IDLE_TIMEOUT_MS', '{"stream":true}'],
    ['for the idle timeout, if the client did not request a stream', 'UPSTREAM_IDLE_TIMEOUT_MS', '{}'],
  ])('silence before the first event %s', async (_description, deadline, body) => {
    bad.respond = respondRaw(STREAM_HEADERS);
    const replica = await startImpatient({ [deadline]: String(FIRST_BYTE_MS) });
    try {
      await undisturbed(async () => expect((await send(key, body, replica)).text).toBe(GOOD));
    } finally {
      await replica.close();
    }
  });
});

describe('a request with a large pool', () => {
  const failing = respondWith('{"from":"bad"}', { status: 500 });
  const createPool = (bads: number) =>
    ownerWith(app, ...Array.from({ length: bads }, () => bad.url), good.url);

  it('tries ten upstreams, and records 64 characters of their names', async () => {
    bad.respond = failing;
    const { owner, key: secret } = await createPool(11);
    await app.database.query(
      `UPDATE upstreams SET name = repeat('😀', 250) || id WHERE organization_id = $1`,
      [owner.organizationId],
    );
    const { reply, record } = await callRecorded(app, owner, secret, { body: '{}' });
    expect([reply.status, reply.text]).toEqual([500, '{"from":"bad"}']);
    expect([bad.requests.length, good.requests.length]).toEqual([10, 0]);
    expect(record.upstream_name).toBe('😀'.repeat(64));
    expect(record.attempts.map(({ upstream_name }) => upstream_name)).toEqual(
      Array.from({ length: 10 }, () => '😀'.repeat(64)),
    );
  });

  it('tries the first ten after demoted upstreams were moved to the end', async () => {
    bad.respond = failing;
    const { key: secret } = await createPool(11);
    for (let i = 0; i < 5; i++) expect((await send(secret)).status).toBe(500);
    expect((await send(secret)).text).toBe(GOOD);
    expect([bad.requests.length, good.requests.length]).toEqual([51, 1]);
  });

  it('does not count retries on a fresh connection as attempts', async () => {
    const { owner, key: secret } = await createPool(12);
    const waiting: RawRequest[] = [];
    bad.respond = (request) => waiting.push(request);
    const primed = Array.from({ length: 10 }, () => send(secret));
    await eventually(() => expect(waiting).toHaveLength(10));
    for (const request of waiting) respondWith('{}')(request);
    await Promise.all(primed);
    bad.respond = (request) => (request.precedingRequests > 0 ? reset : failing)(request);
    const { reply, record } = await callRecorded(app, owner, secret, { body: '{}' });
    expect([reply.status, good.requests.length]).toEqual([500, 0]);
    expect(record.attempts).toHaveLength(10);
    expect(bad.requests.length).toBeGreaterThan(20);
  });

  it('rejects a path that leaves /v1', async () => {
    const { key: secret } = await createPool(11);
    expect(codeOf(await call(app, secret, { path: '/v1/%2e%2e/admin' }))).toBe('not_found');
  });
});

describe('no other upstream is tried after', () => {
  it('a byte of a successful response was relayed', async () => {
    bad.respond = thenClose(
      respondRaw('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"a":'),
    );
    const reply = await send();
    expect([reply.status, reply.text, reply.complete]).toEqual([200, '{"a":', false]);
    expect(good.requests).toEqual([]);
  });

  it('a first event that rejects the request', async () => {
    const rejection = 'data: {"error":{"type":"invalid_request_error","message":"no"}}\n\n';
    bad.respond = respondWithEvents(rejection);
    expect((await send()).text).toBe(rejection);
    bad.respond = respondWithEvents('data: {"error":{"code":429,"message":"slow down"}}\n\n');
    expect((await send()).text).toContain('slow down');
    expect(good.requests).toEqual([]);
  });

  it('an error in a later event', async () => {
    bad.respond = respondWithEvents(
      'data: {"choices":[]}\n\n',
      'data: {"error":{"type":"server_error"}}\n\n',
    );
    expect((await send()).text).toContain('server_error');
    expect(good.requests).toEqual([]);
  });
});

describe('an upstream response with unusual framing', () => {
  it.each<[string, Responder]>([
    [
      'an informational 100',
      respondRaw(`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n${GOOD}`),
    ],
    [
      'several informational 103',
      respondRaw(
        `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n${GOOD}`,
      ),
    ],
    [
      'trailers',
      respondRaw(
        `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\nf\r\n${GOOD}\r\n0\r\nX-Sum: 1\r\n\r\n`,
      ),
    ],
    [
      'chunks with extensions',
      respondRaw(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nF;a="b"\r\n${GOOD}\r\n000\r\n\r\n`),
    ],
    ['HTTP/1.0', thenClose(respondRaw(`HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n${GOOD}`))],
    ['HTTP/1.0 with a length', thenClose(respondRaw(`HTTP/1.0 200 OK\r\nContent-Length: 15\r\n\r\n${GOOD}`))],
    ['a body until the end of the connection', thenClose(respondRaw(`HTTP/1.1 200 OK\r\n\r\n${GOOD}`))],
    [
      'a response in single bytes',
      ({ socket }) => {
        const bytes = Buffer.from(
          `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nf\r\n${GOOD}\r\n0\r\n\r\n`,
        );
        const next = (i: number) =>
          socket.write(bytes.subarray(i, i + 1), () => i + 1 < bytes.length && setImmediate(next, i + 1));
        next(0);
      },
    ],
  ])('is relayed completely: %s', async (_description, response) => {
    bad.respond = response;
    expect(await send()).toMatchObject({ status: 200, text: GOOD, complete: true });
    expect(good.requests).toEqual([]);
    bad.respond = respondWith('{"n":2}');
    expect((await send()).text).toBe('{"n":2}');
  });

  it('is not followed by the surplus bytes after its end', async () => {
    bad.respond = respondRaw(
      `HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n${GOOD}HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil`,
    );
    for (let i = 0; i < 10; i++) expect((await send()).text).toBe(GOOD);
    expect(bad.connectionCount).toBe(10);
  });

  it('never consists of bytes that arrived on an idle connection', async () => {
    bad.respond = (request) => {
      respondWith(GOOD)(request);
      setImmediate(() => request.socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil'));
    };
    for (let i = 0; i < 20; i++) expect((await send()).text).toBe(GOOD);
  });
});

describe('a request for which all upstreams fail', () => {
  it('gets the last upstream response unchanged, also a huge one', async () => {
    bad.respond = respondWith('{"from":"bad"}', { status: 500 });
    const body = 'x'.repeat(5_000_000);
    good.respond = respondWith(body, { status: 503, type: 'text/plain', headers: 'Retry-After: 3\r\n' });
    const reply = await send();
    expect([reply.status, reply.headers['retry-after'], reply.text === body]).toEqual([503, '3', true]);
  });

  it('gets the response of an earlier upstream if the last one sent none', async () => {
    const body = 'y'.repeat(5_000_000);
    bad.respond = respondWith(body, { status: 500 });
    await good.close();
    const reply = await send();
    expect([reply.status, reply.text === body, reply.complete]).toEqual([500, true, true]);
  });

  it('gets the received part of an interrupted response', async () => {
    bad.respond = thenClose(respondRaw('HTTP/1.1 500 Oh\r\nContent-Length: 100\r\n\r\nx'));
    await good.close();
    expect(await send()).toMatchObject({ status: 500, text: 'x', complete: false });
  });

  it('gets the stream that reports the error, also an interrupted one', async () => {
    const event = 'data: {"error":{"type":"server_error"}}\n\n';
    bad.respond = respondWithEvents(event);
    await good.close();
    expect(await send()).toMatchObject({ status: 200, text: event });
    bad.respond = respondRaw(STREAM_HEADERS + chunk(event).toString() + 'what?\r\n');
    const { status, text } = await send();
    expect([status, text.startsWith(event)]).toEqual([200, true]);
  });

  it('gets a complete earlier response if the last one is interrupted before any byte was relayed', async () => {
    good.respond = respondRaw('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n');
    bad.respond = respondWith('{"from":"bad"}', { status: 500 });
    expect(await send()).toMatchObject({ status: 500, text: '{"from":"bad"}', complete: true });
    bad.respond = respondWith('x'.repeat(5_000_000), { status: 500 });
    const reply = await send();
    expect([reply.status, codeOf(reply), reply.complete]).toEqual([502, 'upstream_unreachable', true]);
  });

  it('gets 502 if no upstream responds, or 504 after a timeout', async () => {
    const single = await keyFor(bad.url);
    bad.respond = reset;
    const unreachable = await send(single);
    expect([unreachable.status, codeOf(unreachable)]).toEqual([502, 'upstream_unreachable']);
    bad.respond = () => undefined;
    const late = await send(single, '{}', impatient);
    expect([late.status, codeOf(late)]).toEqual([504, 'upstream_timeout']);
  });

  it('gets 502 for a redirect, which is not followed', async () => {
    const elsewhere = await startRawUpstream(respondWith('secret'));
    bad.respond = respondWith('', { status: 302, headers: `Location: ${elsewhere.url}/\r\n` });
    const reply = await send(await keyFor(bad.url));
    expect([reply.status, codeOf(reply), reply.headers.location]).toEqual([502, 'upstream_error', undefined]);
    expect(elsewhere.requests).toEqual([]);
    await elsewhere.close();
  });

  it('gets 502 for a redirect without waiting for the end of its body', async () => {
    bad.respond = ({ socket }) => {
      socket.write('HTTP/1.1 302 Found\r\nLocation: /\r\nTransfer-Encoding: chunked\r\n\r\n');
      const interval = setInterval(() => socket.write(chunk('x')), PIECE_MS);
      socket.on('close', () => clearInterval(interval));
    };
    expect((await send(await keyFor(bad.url))).status).toBe(502);
    await eventually(() => expect(bad.sockets.size).toBe(0));
  });
});

describe('a reused connection', () => {
  const once: Responder = (request) => {
    if (request.precedingRequests === 0) respondWith(GOOD)(request);
    else request.socket.resetAndDestroy();
  };

  it('is replaced by a fresh one if it is reset', async () => {
    bad.respond = once;
    for (let i = 0; i < 6; i++) expect((await send()).text).toBe(GOOD);
    expect([bad.connectionCount, bad.requests.length, good.requests.length]).toEqual([6, 11, 0]);
  });

  it('is replaced only once per attempt', async () => {
    expect((await send()).text).toBe('{"from":"bad"}');
    bad.respond = reset;
    expect((await send()).text).toBe(GOOD);
    expect(bad.requests).toHaveLength(3);
  });

  it('is not replaced after a byte of the response has arrived', async () => {
    await send();
    bad.respond = ({ socket }) => socket.write('HTTP/1.1 2', () => socket.resetAndDestroy());
    expect((await send()).text).toBe(GOOD);
    expect(bad.requests).toHaveLength(2);
  });

  it('serves one request after another', async () => {
    for (let i = 0; i < 20; i++) await send();
    expect([bad.connectionCount, bad.requests.length]).toEqual([1, 20]);
  });
});

describe('the order of the attempts', () => {
  it('follows the priorities, then the ids', async () => {
    const [a, b] = [await startRawUpstream(respondWith('"a"')), await startRawUpstream(respondWith('"b"'))];
    const tied = await keyFor(
      { url: a.url, priority: 5 },
      { url: b.url, priority: 5 },
      { url: bad.url, priority: 6 },
    );
    expect((await send(tied)).text).toBe('"a"');
    expect((await send(await keyFor({ url: a.url, priority: 6 }, { url: b.url, priority: 5 }))).text).toBe(
      '"b"',
    );
    await a.close();
    await b.close();
  });

  it('ends with upstreams that failed five times in a row', async () => {
    bad.respond = respondWith('{}', { status: 500 });
    for (let i = 0; i < 8; i++) expect((await send()).text).toBe(GOOD);
    expect(bad.requests).toHaveLength(5);
    bad.respond = respondWith('{"back":true}');
    good.respond = respondWith('{}', { status: 500 });
    expect((await send()).text).toBe('{"back":true}');
    expect(bad.requests).toHaveLength(6);
  });

  it('ignores failures that are not in a row, and rejections by the upstream', async () => {
    for (let i = 0; i < 12; i++) {
      bad.respond = respondWith('{}', { status: i % 5 === 4 ? 200 : 500 });
      await send();
    }
    bad.respond = respondWith('{}', { status: 429 });
    for (let i = 0; i < 8; i++) await send();
    expect(bad.requests).toHaveLength(20);
  });

  it('changes with the pool at once, on every replica', async () => {
    const { owner, key: secret, ids } = await ownerWith(app, bad.url, good.url);
    const other = await startApp({ UPSTREAM_PRIVATE_NETWORKS: 'allow' }, { database: app.database });
    for (const replica of [app, other])
      expect((await call(replica, secret, { body: '{}' })).text).toContain('bad');
    await owner.admin.put(`/me/upstreams/${ids[0]}`).send({ enabled: false }).expect(200);
    for (const replica of [app, other]) expect((await call(replica, secret, { body: '{}' })).text).toBe(GOOD);
    await owner.admin.put(`/me/upstreams/${ids[0]}`).send({ enabled: true }).expect(200);
    for (const replica of [app, other])
      expect((await call(replica, secret, { body: '{}' })).text).toContain('bad');
    await other.close();
  });
});

it('sends the whole body to every upstream', async () => {
  bad.respond = respondWith('{}', { status: 500 });
  const body = `{"x":"${'z'.repeat(500_000)}"}`;
  await send(key, body);
  expect([bad.requests[0]!.body.toString() === body, good.requests[0]!.body.toString() === body]).toEqual([
    true,
    true,
  ]);
});

it('relays a stream whose events arrive in parts', async () => {
  bad.respond = ({ socket }) => {
    socket.write(Buffer.concat([Buffer.from(STREAM_HEADERS), chunk('da'), chunk('ta: {"choi')]));
    setImmediate(() =>
      socket.write(
        Buffer.concat([chunk('ces":[]}\n'), chunk('\ndata: [DONE]\n\n'), Buffer.from(LAST_CHUNK)]),
      ),
    );
  };
  expect(await send()).toMatchObject({ text: 'data: {"choices":[]}\n\ndata: [DONE]\n\n', complete: true });
});
