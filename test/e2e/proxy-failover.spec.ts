import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { call, ownerWith } from '../support/proxy-client.js';
import type { PoolEntry, Reply } from '../support/proxy-client.js';
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

const GOOD = '{"from":"good"}';
const FIRST_BYTE_MS = 400;
const RESPONSE_MS = 700;
const IDLE_MS = 500;

let app: TestApp;
let bad: RawUpstream;
let good: RawUpstream;
/** A pool of the bad one and then the good one. */
let key: string;

beforeAll(async () => {
  app = await startApp({
    UPSTREAM_PRIVATE_NETWORKS: 'allow',
    UPSTREAM_CONNECT_TIMEOUT_MS: '400',
    UPSTREAM_FIRST_BYTE_TIMEOUT_MS: String(FIRST_BYTE_MS),
    UPSTREAM_RESPONSE_TIMEOUT_MS: String(RESPONSE_MS),
    UPSTREAM_IDLE_TIMEOUT_MS: String(IDLE_MS),
  });
});
afterAll(() => app.close());

beforeEach(async () => {
  bad = await startRawUpstream(answerWith('{"from":"bad"}'));
  good = await startRawUpstream(answerWith(GOOD));
  key = await keyFor(bad.url, good.url);
});
afterEach(async () => {
  await bad.close();
  await good.close();
});

async function keyFor(...entries: (PoolEntry | string)[]): Promise<string> {
  return (await ownerWith(app, ...entries)).key;
}

const ask = (secret = key, body = '{"model":"m"}'): Promise<Reply> => call(app, secret, { body });
const codeOf = ({ text }: Reply) => JSON.parse(text).error.code as string;

const reset: Answer = ({ socket }) => socket.resetAndDestroy();

describe('the next upstream is tried on', () => {
  it.each<[string, Answer]>([
    ['a reset before any byte', reset],
    ['an end before any byte', ({ socket }) => socket.end()],
    [
      'a reset within the head',
      ({ socket }) => socket.write('HTTP/1.1 200 OK\r\nConte', () => socket.resetAndDestroy()),
    ],
    [
      'nonsense right behind the head',
      answerRaw('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'),
    ],
    ['500', answerWith('{}', { status: 500 })],
    ['502', answerWith('{}', { status: 502 })],
    ['503', answerWith('{}', { status: 503 })],
    ['529', answerWith('{}', { status: 529 })],
    ['599', answerWith('{}', { status: 599 })],
    [
      '500 with a body that never ends',
      answerRaw(`HTTP/1.1 500 Oh\r\nTransfer-Encoding: chunked\r\n\r\n${chunk('x').toString()}`),
    ],
    ['500 with a huge body', answerWith('x'.repeat(20_000_000), { status: 500 })],
    ['500 that breaks off', thenClose(answerRaw('HTTP/1.1 500 Oh\r\nContent-Length: 100\r\n\r\nx'))],
    ['301', answerWith('', { status: 301, headers: 'Location: http://169.254.169.254/\r\n' })],
    ['307', answerWith('', { status: 307, headers: 'Location: /elsewhere\r\n' })],
    ['what is not HTTP', answerRaw('SSH-2.0-OpenSSH_9.2\r\n\r\n')],
    ['a head without an end', answerRaw(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}`)],
    ['two lengths', answerRaw('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab')],
    ['an unknown transfer coding', answerRaw('HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n')],
    [
      'a header with a control character',
      answerRaw('HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 0\r\n\r\n'),
    ],
    ['a switch of protocols', answerRaw('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n')],
    [
      'an overloaded provider in the first event',
      answerWithEvents(
        'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
      ),
    ],
    [
      'a failed provider in the first event',
      answerWithEvents(
        ': wait\n\n',
        'data: {"error":{"type":"server_error","code":null,"message":"no"}}\n\n',
      ),
    ],
    [
      'a failed provider behind a byte order mark',
      answerWithEvents('\ufeffdata: {"error":{"type":"server_error"}}\n\n'),
    ],
    [
      'a failed provider with carriage returns',
      answerWithEvents('data: {"error":{"type":"server_error"}}\r\rdata: x\r\n'),
    ],
    [
      'a status of 502 in the first event',
      answerWithEvents('data: {"error":{"code":502,"message":"no"}}\n\n'),
    ],
    [
      'a failed response in the first event',
      answerWithEvents(
        'event: response.failed\ndata: {"type":"response.failed","response":{"error":{"code":"server_error"}}}\n\n',
      ),
    ],
    [
      'an end of the stream within the first event',
      ({ socket }) => {
        socket.write(STREAM_HEAD);
        socket.end(chunk('data: {'));
      },
    ],
  ])('%s', async (_what, answer) => {
    bad.answer = answer;
    const reply = await ask();
    expect([reply.status, reply.text]).toEqual([200, GOOD]);
    expect([bad.requests.length, good.requests.length]).toEqual([1, 1]);
    await eventually(() => expect(bad.sockets.size).toBeLessThanOrEqual(1));
  });

  it('a connection that is refused', async () => {
    await bad.close();
    expect((await ask()).text).toBe(GOOD);
  });

  it('a name that does not resolve', async () => {
    expect((await ask(await keyFor('http://nowhere.invalid', good.url))).text).toBe(GOOD);
  });

  it('an address that no upstream may have', async () => {
    const { key: secret, ids } = await ownerWith(app, bad.url, good.url);
    await app.database.query(`UPDATE upstreams SET base_url = 'http://169.254.169.254' WHERE id = $1`, [
      ids[0],
    ]);
    expect((await ask(secret)).text).toBe(GOOD);
    expect(bad.requests).toEqual([]);
  });

  it('TLS that fails', async () => {
    expect((await ask(await keyFor(bad.url.replace('http:', 'https:'), good.url))).text).toBe(GOOD);
  });

  it.each([
    ['a stream', '{"stream":true}', FIRST_BYTE_MS],
    ['another answer', '{}', RESPONSE_MS],
  ])('no first byte of %s in time', async (_what, body, deadline) => {
    bad.answer = () => undefined;
    const beganAt = performance.now();
    expect((await ask(key, body)).text).toBe(GOOD);
    expect(performance.now() - beganAt).toBeGreaterThanOrEqual(deadline - 5);
    await eventually(() => expect(bad.sockets.size).toBe(0));
  });

  it.each([
    ['as long as the first byte may take', 'UPSTREAM_FIRST_BYTE_TIMEOUT_MS', '{"stream":true}'],
    ['as long as silence may', 'UPSTREAM_IDLE_TIMEOUT_MS', '{"stream":true}'],
    ['as long as silence may, though nobody asked for a stream', 'UPSTREAM_IDLE_TIMEOUT_MS', '{}'],
  ])('silence before the first event, %s', async (_what, deadline, body) => {
    bad.answer = answerRaw(STREAM_HEAD);
    const settings = { UPSTREAM_PRIVATE_NETWORKS: 'allow', [deadline]: String(FIRST_BYTE_MS) };
    const patient = await startApp(settings, { database: app.database });
    expect((await call(patient, key, { body })).text).toBe(GOOD);
    await patient.close();
  });
});

describe('no other upstream is tried', () => {
  it('once a byte of a good answer went out', async () => {
    bad.answer = thenClose(
      answerRaw('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"a":'),
    );
    const reply = await ask();
    expect([reply.status, reply.text, reply.complete]).toEqual([200, '{"a":', false]);
    expect(good.requests).toEqual([]);
  });

  it('when the first event refuses the request', async () => {
    const refusal = 'data: {"error":{"type":"invalid_request_error","message":"no"}}\n\n';
    bad.answer = answerWithEvents(refusal);
    expect((await ask()).text).toBe(refusal);
    bad.answer = answerWithEvents('data: {"error":{"code":429,"message":"slow down"}}\n\n');
    expect((await ask()).text).toContain('slow down');
    expect(good.requests).toEqual([]);
  });

  it('when the error comes behind the first event', async () => {
    bad.answer = answerWithEvents('data: {"choices":[]}\n\n', 'data: {"error":{"type":"server_error"}}\n\n');
    expect((await ask()).text).toContain('server_error');
    expect(good.requests).toEqual([]);
  });
});

describe('informational answers, trailers and old servers', () => {
  it.each<[string, Answer]>([
    ['100', answerRaw(`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n${GOOD}`)],
    [
      '103 several times',
      answerRaw(
        `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n${GOOD}`,
      ),
    ],
    [
      'trailers',
      answerRaw(
        `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\nf\r\n${GOOD}\r\n0\r\nX-Sum: 1\r\n\r\n`,
      ),
    ],
    [
      'chunks with extensions',
      answerRaw(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nF;a="b"\r\n${GOOD}\r\n000\r\n\r\n`),
    ],
    ['HTTP/1.0', thenClose(answerRaw(`HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n${GOOD}`))],
    ['HTTP/1.0 with a length', thenClose(answerRaw(`HTTP/1.0 200 OK\r\nContent-Length: 15\r\n\r\n${GOOD}`))],
    ['a body until the end of the connection', thenClose(answerRaw(`HTTP/1.1 200 OK\r\n\r\n${GOOD}`))],
    [
      'an answer in single bytes',
      ({ socket }) => {
        const bytes = Buffer.from(
          `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nf\r\n${GOOD}\r\n0\r\n\r\n`,
        );
        const next = (i: number) =>
          socket.write(bytes.subarray(i, i + 1), () => i + 1 < bytes.length && setImmediate(next, i + 1));
        next(0);
      },
    ],
  ])('are understood: %s', async (_what, answer) => {
    bad.answer = answer;
    expect(await ask()).toMatchObject({ status: 200, text: GOOD, complete: true });
    expect(good.requests).toEqual([]);
    bad.answer = answerWith('{"n":2}');
    expect((await ask()).text).toBe('{"n":2}');
  });

  it('bytes behind an answer are nobody else’s answer', async () => {
    bad.answer = answerRaw(
      `HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n${GOOD}HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil`,
    );
    for (let i = 0; i < 10; i++) expect((await ask()).text).toBe(GOOD);
    expect(bad.connections).toBe(10);
  });

  it('bytes that come while nothing was asked are nobody’s answer', async () => {
    bad.answer = (request) => {
      answerWith(GOOD)(request);
      setImmediate(() => request.socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil'));
    };
    for (let i = 0; i < 20; i++) expect((await ask()).text).toBe(GOOD);
  });
});

describe('when all upstreams fail', () => {
  it('the last answer is passed on as it came, also a huge one', async () => {
    bad.answer = answerWith('{"from":"bad"}', { status: 500 });
    const body = 'x'.repeat(5_000_000);
    good.answer = answerWith(body, { status: 503, type: 'text/plain', headers: 'Retry-After: 3\r\n' });
    const reply = await ask();
    expect([reply.status, reply.headers['retry-after'], reply.text === body]).toEqual([503, '3', true]);
  });

  it('an answer counts more than none', async () => {
    const body = 'y'.repeat(5_000_000);
    bad.answer = answerWith(body, { status: 500 });
    await good.close();
    const reply = await ask();
    expect([reply.status, reply.text === body, reply.complete]).toEqual([500, true, true]);
  });

  it('an answer that breaks off is passed on as far as it came', async () => {
    bad.answer = thenClose(answerRaw('HTTP/1.1 500 Oh\r\nContent-Length: 100\r\n\r\nx'));
    await good.close();
    expect(await ask()).toMatchObject({ status: 500, text: 'x', complete: false });
  });

  it('a stream that says so is passed on, also one that breaks off', async () => {
    const event = 'data: {"error":{"type":"server_error"}}\n\n';
    bad.answer = answerWithEvents(event);
    await good.close();
    expect(await ask()).toMatchObject({ status: 200, text: event });
    bad.answer = answerRaw(STREAM_HEAD + chunk(event).toString() + 'what?\r\n');
    const { status, text } = await ask();
    expect([status, text.startsWith(event)]).toEqual([200, true]);
  });

  it('an answer of which all is here counts when another breaks off before anything went out', async () => {
    good.answer = answerRaw('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n');
    bad.answer = answerWith('{"from":"bad"}', { status: 500 });
    expect(await ask()).toMatchObject({ status: 500, text: '{"from":"bad"}', complete: true });
    bad.answer = answerWith('x'.repeat(5_000_000), { status: 500 });
    const reply = await ask();
    expect([reply.status, codeOf(reply), reply.complete]).toEqual([502, 'upstream_unreachable', true]);
  });

  it('no answer at all is 502, or 504 after waiting', async () => {
    const single = await keyFor(bad.url);
    bad.answer = reset;
    const unreachable = await ask(single);
    expect([unreachable.status, codeOf(unreachable)]).toEqual([502, 'upstream_unreachable']);
    bad.answer = () => undefined;
    const late = await ask(single);
    expect([late.status, codeOf(late)]).toEqual([504, 'upstream_timeout']);
  });

  it('a redirect is 502, and goes nowhere', async () => {
    const elsewhere = await startRawUpstream(answerWith('secret'));
    bad.answer = answerWith('', { status: 302, headers: `Location: ${elsewhere.url}/\r\n` });
    const reply = await ask(await keyFor(bad.url));
    expect([reply.status, codeOf(reply), reply.headers.location]).toEqual([502, 'upstream_error', undefined]);
    expect(elsewhere.requests).toEqual([]);
    await elsewhere.close();
  });

  it('a redirect is not heard to its end', async () => {
    bad.answer = ({ socket }) => {
      socket.write('HTTP/1.1 302 Found\r\nLocation: /\r\nTransfer-Encoding: chunked\r\n\r\n');
      const dripping = setInterval(() => socket.write(chunk('x')), IDLE_MS / 10);
      socket.on('close', () => clearInterval(dripping));
    };
    expect((await ask(await keyFor(bad.url))).status).toBe(502);
    await eventually(() => expect(bad.sockets.size).toBe(0));
  });
});

describe('a connection that was used before', () => {
  const once: Answer = (request) => {
    if (request.position === 0) answerWith(GOOD)(request);
    else request.socket.resetAndDestroy();
  };

  it('and is reset is tried once more on a fresh one', async () => {
    bad.answer = once;
    for (let i = 0; i < 6; i++) expect((await ask()).text).toBe(GOOD);
    expect([bad.connections, bad.requests.length, good.requests.length]).toEqual([6, 11, 0]);
  });

  it('is tried once more and no oftener', async () => {
    expect((await ask()).text).toBe('{"from":"bad"}');
    bad.answer = reset;
    expect((await ask()).text).toBe(GOOD);
    expect(bad.requests).toHaveLength(3);
  });

  it('is not tried once more when a byte of the answer came', async () => {
    await ask();
    bad.answer = ({ socket }) => socket.write('HTTP/1.1 2', () => socket.resetAndDestroy());
    expect((await ask()).text).toBe(GOOD);
    expect(bad.requests).toHaveLength(2);
  });

  it('is used again for request after request', async () => {
    for (let i = 0; i < 20; i++) await ask();
    expect([bad.connections, bad.requests.length]).toEqual([1, 20]);
  });
});

describe('the order', () => {
  it('is that of the priorities, then of the ids', async () => {
    const [a, b] = [await startRawUpstream(answerWith('"a"')), await startRawUpstream(answerWith('"b"'))];
    const tied = await keyFor(
      { url: a.url, priority: 5 },
      { url: b.url, priority: 5 },
      { url: bad.url, priority: 6 },
    );
    expect((await ask(tied)).text).toBe('"a"');
    expect((await ask(await keyFor({ url: a.url, priority: 6 }, { url: b.url, priority: 5 }))).text).toBe(
      '"b"',
    );
    await a.close();
    await b.close();
  });

  it('puts one with five failures in a row at the end, and never leaves it out', async () => {
    bad.answer = answerWith('{}', { status: 500 });
    for (let i = 0; i < 8; i++) expect((await ask()).text).toBe(GOOD);
    expect(bad.requests).toHaveLength(5);
    bad.answer = answerWith('{"back":true}');
    good.answer = answerWith('{}', { status: 500 });
    expect((await ask()).text).toBe('{"back":true}');
    expect(bad.requests).toHaveLength(6);
  });

  it('does not change for failures that are not in a row, nor for refusals', async () => {
    for (let i = 0; i < 12; i++) {
      bad.answer = answerWith('{}', { status: i % 5 === 4 ? 200 : 500 });
      await ask();
    }
    bad.answer = answerWith('{}', { status: 429 });
    for (let i = 0; i < 8; i++) await ask();
    expect(bad.requests).toHaveLength(20);
  });

  it('follows a change of the pool at once, on every replica', async () => {
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
  bad.answer = answerWith('{}', { status: 500 });
  const body = `{"x":"${'z'.repeat(500_000)}"}`;
  await ask(key, body);
  expect([bad.requests[0]!.body.toString() === body, good.requests[0]!.body.toString() === body]).toEqual([
    ...[true, true],
  ]);
});

it('passes on a stream whose events come in pieces', async () => {
  bad.answer = ({ socket }) => {
    socket.write(Buffer.concat([Buffer.from(STREAM_HEAD), chunk('da'), chunk('ta: {"choi')]));
    setImmediate(() =>
      socket.write(
        Buffer.concat([chunk('ces":[]}\n'), chunk('\ndata: [DONE]\n\n'), Buffer.from(LAST_CHUNK)]),
      ),
    );
  };
  expect(await ask()).toMatchObject({ text: 'data: {"choices":[]}\n\ndata: [DONE]\n\n', complete: true });
});
