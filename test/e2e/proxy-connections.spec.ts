import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { ResponseReader } from '../../src/proxy/wire/response-reader.js';
import { IS_FAST_PATH, startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { connect } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { ownerWith } from '../support/proxy-client.js';
import { connectRaw, statusesIn } from '../support/raw-client.js';
import type { RawClient } from '../support/raw-client.js';
import {
  respondRaw,
  respondWith,
  chunk,
  LAST_CHUNK,
  startRawUpstream,
  STREAM_HEADERS,
} from '../support/raw-upstream.js';
import type { Responder, RawUpstream } from '../support/raw-upstream.js';
import { cuts, splitAt } from '../support/splits.js';

const KEEP_ALIVE_TIMEOUT_MS = 1_500;

let app: TestApp;
let upstream: RawUpstream;
let credential: string;

beforeAll(async () => {
  app = await startApp({ UPSTREAM_PRIVATE_NETWORKS: 'allow' });
  upstream = await startRawUpstream(() => undefined);
  const { key } = await ownerWith(app, `${upstream.url}/v1`);
  credential = `Authorization: Bearer ${key}\r\n`;
});
afterAll(async () => {
  await app.close();
  await upstream.close();
});
beforeEach(() => {
  upstream.respond = echo;
  upstream.requests.length = 0;
});

/** Reads the usage records of a path. */
const recorded = (path: string) =>
  app.database.query('SELECT outcome, status FROM usage_records WHERE path = $1', [path]);
const CLIENT_GONE = [{ outcome: 'client_gone', status: 499 }];

/** Responds with Content-Length or, for a path with `stream`, with a chunked event stream. */
const echo: Responder = (request) => {
  if (request.target === '/v1/nothing') return respondRaw('HTTP/1.1 204 No Content\r\n\r\n')(request);
  const text = `${request.target} ${request.body.toString('latin1')}`;
  if (!request.target.includes('stream')) return respondWith(text, { type: 'text/plain' })(request);
  request.socket.write(STREAM_HEADERS + chunk(`data: ${text}\n\n`).toString('latin1') + LAST_CHUNK);
};

interface TestRequest {
  readonly method: string;
  readonly text: string;
  /** Expected body of the response; undefined if only the status is checked. */
  readonly body?: string;
  readonly status: number;
}

const lengthOf = (body: string) => `Content-Length: ${body.length}\r\n\r\n${body}`;
const head = (method: string, path: string) => `${method} ${path} HTTP/1.1\r\nHost: x\r\n`;
const proxied = (method: string, path: string, framed: string, body?: string): TestRequest => ({
  method,
  status: 200,
  body,
  text: `${head(method, path)}${credential}${framed}`,
});

const content = fc.stringMatching(/^[ -~]{0,40}$/);
const testRequest: fc.Arbitrary<() => TestRequest> = fc.oneof(
  {
    weight: 6,
    arbitrary: content.map((body) => () => proxied('POST', '/v1/a', lengthOf(body), `/v1/a ${body}`)),
  },
  {
    weight: 2,
    arbitrary: content.map(
      (body) => () => proxied('POST', '/v1/stream', lengthOf(body), `data: /v1/stream ${body}\n\n`),
    ),
  },
  { weight: 2, arbitrary: fc.constant(() => proxied('GET', '/v1/b?c=d', '\r\n', '/v1/b?c=d ')) },
  { weight: 1, arbitrary: fc.constant(() => proxied('HEAD', '/v1/b', '\r\n', '')) },
  {
    weight: 1,
    arbitrary: fc.constant(() => ({ ...proxied('GET', '/v1/nothing', '\r\n', ''), status: 204 })),
  },
  {
    weight: 1,
    arbitrary: fc.constant(() => ({ method: 'HEAD', status: 401, text: `${head('HEAD', '/v1/b')}\r\n` })),
  },
  {
    weight: 1,
    arbitrary: content.map((body) => () => ({
      method: 'POST',
      status: 401,
      text: head('POST', '/v1/a') + lengthOf(body),
    })),
  },
  {
    weight: 1,
    arbitrary: fc.constant(() => ({ method: 'GET', status: 200, text: `${head('GET', '/healthz')}\r\n` })),
  },
  {
    weight: 1,
    arbitrary: content.map(
      (body) => () =>
        proxied(
          'POST',
          '/v1/a',
          `Transfer-Encoding: chunked\r\n\r\n${body && chunk(body).toString('latin1')}${LAST_CHUNK}`,
          `/v1/a ${body}`,
        ),
    ),
  },
);

/** Parses the responses to these requests. */
function readAll(requests: readonly TestRequest[], text: string) {
  const responses: { status: number; body: string; isComplete: boolean }[] = [];
  const begin = () => {
    const next = requests[responses.length];
    if (next) reader.expectResponse(next.method);
  };
  const reader = new ResponseReader({
    onResponseHeaders: ({ status }) => responses.push({ status, body: '', isComplete: false }),
    onData: (data) => (responses.at(-1)!.body += data.toString('latin1')),
    onEnd: () => {
      responses.at(-1)!.isComplete = true;
      begin();
    },
  });
  begin();
  reader.read(Buffer.from(text, 'latin1'));
  return responses;
}

describe('requests on one connection', () => {
  it('get their responses in order, however their bytes are split', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(testRequest, { minLength: 1, maxLength: 6 }),
        cuts,
        async (makers, places) => {
          const requests = makers.map((make) => make());
          const bytes = Buffer.from(requests.map(({ text }) => text).join(''), 'latin1');
          const client = await connectRaw(app);
          for (const piece of splitAt(bytes, places)) {
            client.socket.write(piece);
            for (let i = 0; i < 3; i++) await nextTurn();
          }
          const responses = await eventually(() => {
            const all = readAll(requests, client.text());
            expect(all.filter(({ isComplete }) => isComplete)).toHaveLength(requests.length);
            return all;
          });
          client.socket.destroy();
          for (const [i, { status, body }] of requests.entries()) {
            expect(responses[i]).toMatchObject({ status, ...(body === undefined ? {} : { body }) });
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  it('wait for the responses to earlier requests, also large ones', async () => {
    const waiting: (() => void)[] = [];
    upstream.respond = (request) => waiting.push(() => echo(request));
    const large = 'x'.repeat(300_000);
    const client = await connectRaw(app, proxied('POST', '/v1/first', lengthOf('1')).text);
    await eventually(() => expect(waiting).toHaveLength(1));
    client.socket.write(proxied('POST', '/v1/second', lengthOf(large)).text);
    client.socket.write(`${head('GET', '/healthz')}\r\n`);
    for (let i = 0; i < 10; i++) await nextTurn();
    expect(client.text()).toBe('');
    if (IS_FAST_PATH) expect(waiting).toHaveLength(1); // Node starts several requests of a pipeline at once
    waiting[0]!();
    await eventually(() => expect(waiting).toHaveLength(2));
    await eventually(() => expect(client.text()).toMatch(/\/v1\/first 1$/));
    waiting[1]!();
    await eventually(() => expect(statusesIn(client.text())).toEqual([200, 200, 200]));
    expect(client.text()).toContain(`/v1/second ${large}HTTP/1.1 200`);
    client.socket.destroy();
  });

  const HUGE = 'x'.repeat(20_000_000);

  /** Sends a huge request. @returns the number of bytes that the server reads in the meantime */
  async function countReadBytes(client: RawClient, served: Socket, text: string): Promise<number> {
    const before = served.bytesRead;
    client.socket.write(text);
    for (let i = 0; i < 500; i++) await nextTurn();
    return served.bytesRead - before;
  }

  /** Opens a connection. @returns both of its ends */
  async function connectBothEnds(): Promise<[RawClient, Socket]> {
    const accepting = once(app.app.getHttpServer(), 'connection');
    const client = await connectRaw(app);
    return [client, ((await accepting) as [Socket])[0]];
  }

  /** Node starts several requests of a pipeline at once; the limits of bodies apply to them. */
  const itOnFastPath = IS_FAST_PATH ? it : it.skip;

  itOnFastPath('are read only up to a limit while they wait for an earlier response', async () => {
    const waiting: (() => void)[] = [];
    upstream.respond = (request) => waiting.push(() => respondWith('{}')(request));
    const [client, served] = await connectBothEnds();
    client.socket.write(proxied('POST', '/v1/first', lengthOf('1')).text);
    await eventually(() => expect(waiting).toHaveLength(1));
    expect(
      await countReadBytes(client, served, proxied('POST', '/v1/second', lengthOf(HUGE)).text),
    ).toBeLessThan(1_000_000);
    waiting[0]!();
    await eventually(() => expect(waiting).toHaveLength(2));
    waiting[1]!();
    await eventually(() => expect(statusesIn(client.text())).toEqual([200, 200]));
    expect(upstream.requests[1]!.body).toHaveLength(HUGE.length);
    client.socket.destroy();
  });

  it('are read only up to a limit while their key is being verified', async () => {
    const { key } = await ownerWith(app, `${upstream.url}/v1`);
    const lock = await connect(app.database);
    await lock.query('BEGIN; LOCK TABLE proxy_keys');
    upstream.respond = respondWith('{}');
    const [client, served] = await connectBothEnds();
    const text = `${head('POST', '/v1/a')}Authorization: Bearer ${key}\r\n${lengthOf(HUGE)}`;
    expect(await countReadBytes(client, served, text)).toBeLessThan(1_000_000);
    await lock.query('COMMIT');
    await lock.end();
    await eventually(() => expect(statusesIn(client.text())).toEqual([200]));
    expect(upstream.requests[0]!.body).toHaveLength(HUGE.length);
    client.socket.destroy();
  });

  it('continue after a rejection once the discarded body has arrived', async () => {
    const client = await connectRaw(app, `${head('POST', '/v1/a')}Content-Length: 200000\r\n\r\n`);
    await eventually(() => expect(statusesIn(client.text())).toEqual([401]));
    client.socket.write('x'.repeat(200_000));
    client.socket.write(proxied('POST', '/v1/a', lengthOf('{}')).text);
    await eventually(() => expect(client.text()).toMatch(/\/v1\/a \{\}$/));
    client.socket.destroy();
  });
});

describe('a client that disconnects', () => {
  it('cancels all its pipelined requests, also waiting ones', async () => {
    const path = '/v1/chat/completions';
    upstream.respond = ({ socket, body }) => {
      if (body.includes('flood'))
        socket.write(STREAM_HEADERS + chunk(`data: ${'x'.repeat(100_000)}\n\n`).toString());
    };
    const bodies = ['{"slow":1}', '{"stream":true,"flood":1}', '{"slow":2}'];
    const client = await connectRaw(
      app,
      bodies.map((body) => proxied('POST', path, lengthOf(body)).text).join(''),
    );
    await eventually(() => expect(upstream.requests).toHaveLength(3));
    client.socket.destroy();
    await eventually(() => expect(upstream.requests.every(({ socket }) => socket.destroyed)).toBe(true));
    await eventually(async () =>
      expect(await recorded(path)).toEqual([...CLIENT_GONE, ...CLIENT_GONE, ...CLIENT_GONE]),
    );
    const { text } = await app.anonymous.get('/metrics').expect(200);
    expect(text).toMatch(/^mintkeep_proxy_open_streams 0$/m);
  });
});

describe('a response in large chunks', () => {
  it.each([
    ['text', [1_000, 16_384, 20_000, 200]],
    ['bytes after text', [9_000, 9_000, 9_000, 17_000, 100]],
    ['bytes', [40_000, 40_000, 1, 40_000]],
  ])('is complete: %s', async (_description, sizes) => {
    const events = sizes.map((size) => `data: ${'x'.repeat(size)}\n\n`);
    upstream.respond = ({ socket }) => {
      socket.write(STREAM_HEADERS + events.map((text) => chunk(text).toString()).join('') + LAST_CHUNK);
    };
    for (let i = 0; i < 5; i++) {
      const client = await connectRaw(app, proxied('POST', '/v1/large', lengthOf('{}')).text);
      const response = await eventually(() => {
        const [read] = readAll([proxied('POST', '/v1/large', '')], client.text());
        expect(read?.isComplete).toBe(true);
        return read!;
      });
      expect(response.body).toBe(events.join(''));
      client.socket.destroy();
    }
  });

  it('is unchanged while its client does not read and others are served', async () => {
    const size = 40_000;
    upstream.respond = (request) => respondWith(request.body.toString().repeat(size))(request);
    const requestOf = (letter: string) => proxied('POST', '/v1/large', lengthOf(letter));
    const client = await connectRaw(app);
    client.socket.pause();
    const letters: string[] = [];
    do {
      const letter = String.fromCharCode(97 + (letters.length % 26));
      letters.push(letter);
      client.socket.write(requestOf(letter).text);
    } while (letters.length < 1_000 && (await hasReceived(letters.length))); // until the connection has no room for a response
    for (let i = 0; i < 20; i++) {
      const other = await connectRaw(app, requestOf('#').text);
      await eventually(() => expect(other.text().length).toBeGreaterThan(size));
      other.socket.destroy();
    }
    client.socket.resume();
    const responses = await eventually(() => {
      const all = readAll(letters.map(requestOf), client.text());
      expect(all.filter(({ isComplete }) => isComplete)).toHaveLength(letters.length);
      return all;
    });
    const others = responses.filter(({ body }, i) => body !== letters[i]!.repeat(size));
    expect(others).toEqual([]);
    client.socket.destroy();
  });

  /** Whether this many requests arrive at the upstream. */
  async function hasReceived(count: number): Promise<boolean> {
    const until = performance.now() + 1_000;
    while (upstream.requests.length < count && performance.now() < until) await nextTurn();
    return upstream.requests.length === count;
  }

  it('is reset if it is interrupted and the client uses HTTP/1.0, where the end of the connection ends a response', async () => {
    upstream.respond = ({ socket }) => {
      socket.write(
        'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\n',
      );
    };
    const client = await connectRaw(app, `GET /v1/old HTTP/1.0\r\n${credential}\r\n`);
    const broken = once(client.socket, 'error');
    await eventually(() => expect(client.text()).toMatch(/\{"a":$/));
    upstream.requests[0]!.socket.resetAndDestroy();
    expect(await broken).toMatchObject([{ code: 'ECONNRESET' }]);
  });
});

describe('a request', () => {
  it('gets its complete response with Expect: 100-continue after another request', async () => {
    const waiting: (() => void)[] = [];
    upstream.respond = (request) =>
      waiting.push(() => respondWith('y'.repeat(20_000), { type: 'text/plain' })(request));
    const second = proxied('POST', '/v1/second', `Expect: 100-continue\r\n${lengthOf('{"b":2}')}`);
    const requests = [proxied('POST', '/v1/first', lengthOf('{"a":1}')), second];
    const client = await connectRaw(app, requests.map(({ text }) => text).join(''));
    await eventually(() => expect(waiting).toHaveLength(2));
    for (const response of waiting) response();
    const responses = await eventually(() => {
      const all = readAll(requests, client.text());
      expect(all.filter(({ isComplete }) => isComplete)).toHaveLength(2);
      return all;
    });
    for (const { body } of responses) expect(body).toBe('y'.repeat(20_000));
    client.socket.destroy();
  });

  it('may have an absolute URL as its target', async () => {
    const client = await connectRaw(app, `GET http://x/v1/b?c=d HTTP/1.1\r\nHost: x\r\n${credential}\r\n`);
    await eventually(() => expect(client.text()).toMatch(/\/v1\/b\?c=d $/));
    await eventually(async () => expect(await recorded('/v1/b')).not.toEqual([]));
    client.socket.write('GET http://x/healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    await eventually(() => expect(statusesIn(client.text())).toEqual([200, 200]));
    client.socket.destroy();
  });

  it('is rejected if it has two Host headers', async () => {
    const client = await connectRaw(app, `GET /v1/b HTTP/1.1\r\nHost: x\r\nhost: y\r\n${credential}\r\n`);
    expect(statusesIn(await client.closed)).toEqual([400]);
  });

  it('is not retried after its upstream sent 100 Continue', async () => {
    const seen: string[] = [];
    upstream.respond = (request) => {
      seen.push(request.target);
      if (request.target === '/v1/kept') return echo(request);
      request.socket.write('HTTP/1.1 100 Continue\r\n\r\n', () => request.socket.resetAndDestroy());
    };
    const client = await connectRaw(app, proxied('POST', '/v1/kept', lengthOf('{}')).text);
    await eventually(() => expect(statusesIn(client.text())).toEqual([200]));
    client.socket.write(proxied('POST', '/v1/begun', lengthOf('{}')).text);
    await eventually(() => expect(statusesIn(client.text())).toEqual([200, 502]));
    expect(seen).toEqual(['/v1/kept', '/v1/begun']);
    client.socket.destroy();
  });
});

describe('an idle connection', () => {
  let impatient: TestApp;

  beforeAll(async () => {
    const limits = { keepAliveTimeoutMs: KEEP_ALIVE_TIMEOUT_MS };
    impatient = await startApp({ UPSTREAM_PRIVATE_NETWORKS: 'allow' }, app, limits);
  });
  afterAll(() => impatient.close());

  it('stays open between requests for the keep-alive timeout', async () => {
    let answeredAt = Infinity;
    upstream.respond = (request) => {
      answeredAt = performance.now();
      echo(request);
    };
    const client = await connectRaw(impatient, proxied('POST', '/v1/a', lengthOf('{}')).text);
    expect(statusesIn(await client.closed)).toEqual([200]);
    expect(performance.now() - answeredAt).toBeGreaterThan(KEEP_ALIVE_TIMEOUT_MS - 50);
  });

  it('has a Keep-Alive header with the timeout', async () => {
    const client = await connectRaw(impatient, proxied('POST', '/v1/a', lengthOf('{}')).text);
    const [response] = (await once(client.socket, 'data')) as [Buffer];
    expect(response.toString()).toMatch(
      /\r\nDate: \w{3}, .* GMT\r\nConnection: keep-alive\r\nKeep-Alive: timeout=1\r\n/,
    );
    client.socket.destroy();
  });
});

describe('a connection', () => {
  it('is closed if the client half-closes it while it waits, and its request is cancelled and recorded', async () => {
    upstream.respond = () => undefined;
    const client = await connectRaw(app, proxied('POST', '/v1/half', lengthOf('{}')).text);
    await eventually(() => expect(upstream.requests).toHaveLength(1));
    client.socket.end();
    expect(await client.closed).toBe('');
    await eventually(async () => expect(await recorded('/v1/half')).toEqual(CLIENT_GONE));
    await eventually(() => expect(upstream.requests[0]!.socket.destroyed).toBe(true));
  });

  it('sends nothing upstream if it ends within a body, and its request is recorded', async () => {
    const client = await connectRaw(
      app,
      `${head('POST', '/v1/ended')}${credential}Content-Length: 10\r\n\r\n12345`,
    );
    client.socket.end();
    expect(statusesIn(await client.closed)).toEqual([400]);
    await eventually(async () => expect(await recorded('/v1/ended')).toEqual(CLIENT_GONE));
    expect(upstream.requests).toEqual([]);
  });
});
