import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { ownerWith } from '../support/proxy-client.js';
import { connectRaw, statusesIn } from '../support/raw-client.js';
import { respondWith, chunk, LAST_CHUNK, startRawUpstream } from '../support/raw-upstream.js';
import type { RawRequest, RawUpstream } from '../support/raw-upstream.js';

const PIPELINE_LIMIT = 16;
const HEADERS_TIMEOUT_MS = 600;

let app: TestApp;
let upstream: RawUpstream;
let credential: string;

beforeAll(async () => {
  app = await startApp({
    UPSTREAM_PRIVATE_NETWORKS: 'allow',
    PROXY_REQUESTS_IN_FLIGHT: '0',
  });
  upstream = await startRawUpstream(() => undefined);
  const { key } = await ownerWith(app, `${upstream.url}/v1`);
  credential = `Authorization: Bearer ${key}\r\n`;
});
afterAll(async () => {
  await app.close();
  await upstream.close();
});
beforeEach(() => {
  upstream.respond = () => undefined;
  upstream.requests.length = 0;
});

const HEALTH = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
const post = (path: string, body: string, more = '') =>
  `POST /v1/${path} HTTP/1.1\r\nHost: x\r\n${credential}${more}Content-Length: ${body.length}\r\n\r\n${body}`;
const chunked = (path: string, body: string) =>
  `POST /v1/${path} HTTP/1.1\r\nHost: x\r\n${credential}Transfer-Encoding: chunked\r\n\r\n` +
  chunk(body).toString() +
  LAST_CHUNK;
const get = (path: string, more = '') => `GET /v1/${path} HTTP/1.1\r\nHost: x\r\n${credential}${more}\r\n`;

const respond = (request: RawRequest) => respondWith(`<${request.target}>`, { type: 'text/plain' })(request);
const respondToAll = () => upstream.requests.splice(0).forEach(respond);
/** Paths of the requests whose responses have arrived. */
const pathsIn = (text: string) => [...text.matchAll(/<\/v1\/([^>]*)>/g)].map(([, path]) => path);

/** Waits until exactly this many requests have arrived at the upstream. */
async function expectArrived(count: number): Promise<void> {
  await eventually(() => expect(upstream.requests.length).toBeGreaterThanOrEqual(count));
  for (let i = 0; i < 50; i++) await nextTurn();
  expect(upstream.requests).toHaveLength(count);
}

describe('pipelined requests', () => {
  const KINDS: [string, (path: string) => string][] = [
    ['without a body', (path) => get(path)],
    ['with a length', (path) => post(path, '{\n\n"a":1}\r\n\r\n')],
    ['in chunks', (path) => chunked(path, '{\r\n\r\n"a":1}\n\n')],
  ];

  it.each(KINDS)('%s are read ahead up to a limit and get their responses in order', async (_kind, make) => {
    const paths = Array.from({ length: 200 }, (_, i) => String(i));
    const client = await connectRaw(app, paths.map((path) => make(path)).join(''));
    await expectArrived(PIPELINE_LIMIT);
    upstream.respond = respond;
    respondToAll();
    await eventually(() => expect(pathsIn(client.text())).toEqual(paths));
    client.socket.destroy();
  });

  it('never exceed the limit at a time while responses are delivered', async () => {
    let open = 0;
    let most = 0;
    upstream.respond = (request) => {
      most = Math.max(most, ++open);
      setImmediate(() => {
        open--;
        respond(request);
      });
    };
    const paths = Array.from({ length: 1_000 }, (_, i) => String(i));
    const client = await connectRaw(app, paths.map((path) => get(path)).join(''));
    await eventually(() => expect(pathsIn(client.text())).toEqual(paths), 30_000);
    expect(most).toBeLessThanOrEqual(PIPELINE_LIMIT);
    client.socket.destroy();
  });

  it('get their responses however their bytes are split', async () => {
    upstream.respond = respond;
    const text = KINDS.map(([, make], i) => make(String(i))).join('');
    for (const size of [1, 2, 3, 7, 16, 61]) {
      const client = await connectRaw(app);
      client.socket.setNoDelay(true);
      for (let at = 0; at < text.length; at += size) {
        client.socket.write(text.slice(at, at + size));
        if (at % (7 * size) === 0) await nextTurn();
      }
      await eventually(() => expect(pathsIn(client.text())).toEqual(['0', '1', '2']));
      client.socket.destroy();
    }
  });

  it('are read only up to a limit while the pipeline is full', async () => {
    const accepting = once(app.app.getHttpServer(), 'connection');
    const client = await connectRaw(app, get('0'));
    const [served] = (await accepting) as [{ bytesRead: number }];
    client.socket.write(get('x').repeat(200_000));
    await expectArrived(PIPELINE_LIMIT);
    for (let i = 0; i < 500; i++) await nextTurn();
    expect(served.bytesRead).toBeLessThan(2_000_000);
    client.socket.destroy();
  });

  it('are cancelled when their client disconnects, also waiting ones', async () => {
    const client = await connectRaw(app);
    for (let i = 0; i < 40; i++) {
      client.socket.write(get(String(i)));
      await nextTurn();
    }
    await expectArrived(PIPELINE_LIMIT);
    client.socket.destroy();
    await eventually(() => expect(upstream.requests.every(({ socket }) => socket.destroyed)).toBe(true));
    expect(upstream.requests).toHaveLength(PIPELINE_LIMIT);
  });
});

describe('the response to an earlier request', () => {
  const FLOOD = 'x'.repeat(300_000);
  const FAILURES: [string, () => string, number[]][] = [
    ['bytes that are not HTTP', () => 'nonsense\r\n\r\n', [200, 400]],
    ['a request without a Host', () => 'GET /v1/b HTTP/1.1\r\n\r\n', [200, 400]],
    ['too many headers', () => get('b', 'x: 1\r\n'.repeat(200)), [200, 431]],
    ['too large headers', () => get('b', `x: ${'x'.repeat(20_000)}\r\n`), [200, 431]],
    ['a malformed chunk', () => chunked('b', 'x').replace('1\r\nx', 'z\r\nx'), [200, 400]],
    ['CONNECT', () => 'CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n', [200, 400]],
    ['the preface of HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [200, 400]],
  ];

  it.each(FAILURES)('is delivered before the rejection of %s', async (_description, bytesOf, statuses) => {
    const bytes = bytesOf();
    for (const separately of [false, true]) {
      const client = await connectRaw(app, separately ? get('a') : get('a') + bytes);
      await expectArrived(1);
      if (separately) client.socket.write(bytes);
      client.socket.write(FLOOD);
      for (let i = 0; i < 50; i++) await nextTurn();
      expect(client.text()).toBe('');
      respondToAll();
      const text = await client.closed;
      expect([statusesIn(text), pathsIn(text)]).toEqual([statuses, ['a']]);
    }
  });

  it('is delivered before the rejection of headers that arrive too late', async () => {
    const variables = { UPSTREAM_PRIVATE_NETWORKS: 'allow' };
    const impatient = await startApp(variables, app, { headersTimeoutMs: HEADERS_TIMEOUT_MS });
    const client = await connectRaw(impatient, get('a') + 'GET /v1/b HTTP/1.1\r\n');
    await expectArrived(1);
    // These connections start later. Their rejection shows that the timeout of the first one is over.
    for (let i = 0; i < 3; i++) await (await connectRaw(impatient)).closed;
    respondToAll();
    const text = await client.closed;
    expect([statusesIn(text), pathsIn(text)]).toEqual([[200, 408], ['a']]);
    await impatient.close();
  });

  it.each([
    ['Connection: close', () => get('a', 'Connection: close\r\n')],
    ['HTTP/1.0', () => `GET /v1/a HTTP/1.0\r\n${credential}\r\n`],
  ])('is delivered with %s, and later bytes are discarded', async (_description, requestOf) => {
    const request = requestOf();
    for (const more of [get('b'), 'nonsense\r\n\r\n', FLOOD]) {
      for (const separately of [false, true]) {
        const client = await connectRaw(app, separately ? request : request + more);
        await expectArrived(1);
        if (separately) client.socket.write(more);
        for (let i = 0; i < 50; i++) await nextTurn();
        respondToAll();
        const text = await client.closed;
        expect([text.match(/HTTP\/1\.1 200/g), pathsIn(text)]).toEqual([['HTTP/1.1 200'], ['a']]);
        expect(upstream.requests).toHaveLength(0);
      }
    }
  });

  it('is delivered on other routes as well', async () => {
    const client = await connectRaw(app, `${HEALTH}${HEALTH}nonsense\r\n\r\n`);
    expect(statusesIn(await client.closed)).toEqual([200, 200, 400]);
    const last = await connectRaw(
      app,
      HEALTH + HEALTH.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n') + HEALTH,
    );
    expect(statusesIn(await last.closed)).toEqual([200, 200]);
  });
});

describe('an unsupported Upgrade', () => {
  const UPGRADE = 'Connection: Upgrade\r\nUpgrade: h2c\r\n';

  it.each([
    ['without a body', () => get('a', UPGRADE)],
    ['with a body', () => post('a', '{"a":1}', UPGRADE)],
    ['to another route', () => HEALTH.replace('\r\n\r\n', `\r\n${UPGRADE}\r\n`).replace('/healthz', '/v1/a')],
  ])('%s is ignored, and the next request gets its response', async (_description, requestOf) => {
    const request = requestOf();
    upstream.respond = respond;
    for (const separately of [false, true]) {
      const client = await connectRaw(app, get('0') + (separately ? request : request + get('b') + get('c')));
      if (separately) {
        await eventually(() => expect(statusesIn(client.text())).toHaveLength(2));
        client.socket.write(get('b') + get('c'));
      }
      await eventually(() => expect(statusesIn(client.text())).toHaveLength(4));
      expect(pathsIn(client.text())).toEqual(
        expect.arrayContaining(request.includes(credential) ? ['0', 'a', 'b', 'c'] : ['0', 'b', 'c']),
      );
      client.socket.destroy();
    }
  });

  it('closes the connection after its response if the body is chunked', async () => {
    upstream.respond = respond;
    const request = chunked('a', '{"a":1}').replace('Transfer', `${UPGRADE}Transfer`);
    const text = await (await connectRaw(app, request + get('b'))).closed;
    expect([statusesIn(text), pathsIn(text)]).toEqual([[200], ['a']]);
    expect(text).toMatch(/\r\nConnection: close\r\n/i);
  });
});
