import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { AnswerReader } from '../../src/proxy/answer-reader.js';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { connect } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { ownerWith } from '../support/proxy-client.js';
import { connectRaw, statusesIn } from '../support/raw-client.js';
import type { RawClient } from '../support/raw-client.js';
import {
  answerRaw,
  answerWith,
  chunk,
  LAST_CHUNK,
  startRawUpstream,
  STREAM_HEAD,
} from '../support/raw-upstream.js';
import type { Answer, RawUpstream } from '../support/raw-upstream.js';
import { cuts, splitAt } from '../support/splits.js';

const KEEP_ALIVE_TIMEOUT_MS = 1_500;
const HEADERS_TIMEOUT_MS = 600;

let app: TestApp;
let upstream: RawUpstream;
let credential: string;

beforeAll(async () => {
  app = await startApp({
    UPSTREAM_PRIVATE_NETWORKS: 'allow',
    KEEP_ALIVE_TIMEOUT_MS: String(KEEP_ALIVE_TIMEOUT_MS),
    HEADERS_TIMEOUT_MS: String(HEADERS_TIMEOUT_MS),
    BODY_TIMEOUT_MS: '5000',
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
  upstream.answer = echo;
  upstream.requests.length = 0;
});

/** What is on record of the requests for a path. */
const recorded = (path: string) =>
  app.database.query('SELECT outcome, status FROM usage_records WHERE path = $1', [path]);
const LEFT = [{ outcome: 'client_gone', status: 499 }];

/** With a length, or as a stream in chunks. */
const echo: Answer = (request) => {
  if (request.target === '/v1/nothing') return answerRaw('HTTP/1.1 204 No Content\r\n\r\n')(request);
  const text = `${request.target} ${request.body.toString('latin1')}`;
  if (!request.target.includes('stream')) return answerWith(text, { type: 'text/plain' })(request);
  request.socket.write(STREAM_HEAD + chunk(`data: ${text}\n\n`).toString('latin1') + LAST_CHUNK);
};

interface Asked {
  readonly method: string;
  readonly text: string;
  /** What is answered; undefined when only the status is looked at. */
  readonly body?: string;
  readonly status: number;
}

const lengthOf = (body: string) => `Content-Length: ${body.length}\r\n\r\n${body}`;
const head = (method: string, path: string) => `${method} ${path} HTTP/1.1\r\nHost: x\r\n`;
const proxied = (method: string, path: string, framed: string, body?: string): Asked => ({
  ...{ method, status: 200, body },
  text: `${head(method, path)}${credential}${framed}`,
});

const content = fc.stringMatching(/^[ -~]{0,40}$/);
const asked: fc.Arbitrary<() => Asked> = fc.oneof(
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
      ...{ method: 'POST', status: 401 },
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
          ...(['POST', '/v1/a'] as const),
          `Transfer-Encoding: chunked\r\n\r\n${body && chunk(body).toString('latin1')}${LAST_CHUNK}`,
          `/v1/a ${body}`,
        ),
    ),
  },
);

/** Reads the answers to these requests, one after the other, and nothing else. */
function readAll(requests: readonly Asked[], text: string) {
  const answers: { status: number; body: string; isComplete: boolean }[] = [];
  const begin = () => {
    const next = requests[answers.length];
    if (next) reader.begin(next.method);
  };
  const reader = new AnswerReader({
    head: ({ status }) => answers.push({ status, body: '', isComplete: false }),
    data: (data) => (answers.at(-1)!.body += data.toString('latin1')),
    end: () => {
      answers.at(-1)!.isComplete = true;
      begin();
    },
  });
  begin();
  reader.feed(Buffer.from(text, 'latin1'));
  return answers;
}

describe('requests on one connection', () => {
  it('are answered in their order, whatever they are and however their bytes are cut', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(asked, { minLength: 1, maxLength: 6 }), cuts, async (makers, places) => {
        const requests = makers.map((make) => make());
        const bytes = Buffer.from(requests.map(({ text }) => text).join(''), 'latin1');
        const client = await connectRaw(app);
        for (const piece of splitAt(bytes, places)) {
          client.socket.write(piece);
          for (let i = 0; i < 3; i++) await turn();
        }
        const answers = await eventually(() => {
          const all = readAll(requests, client.text());
          expect(all.filter(({ isComplete }) => isComplete)).toHaveLength(requests.length);
          return all;
        });
        client.socket.destroy();
        for (const [i, { status, body }] of requests.entries()) {
          expect(answers[i]).toMatchObject({ status, ...(body === undefined ? {} : { body }) });
        }
      }),
      { numRuns: 150 },
    );
  });

  it('wait for the answers before them, large ones, too', async () => {
    const waiting: (() => void)[] = [];
    upstream.answer = (request) => waiting.push(() => echo(request));
    const large = 'x'.repeat(300_000);
    const client = await connectRaw(app, proxied('POST', '/v1/first', lengthOf('1')).text);
    await eventually(() => expect(waiting).toHaveLength(1));
    client.socket.write(proxied('POST', '/v1/second', lengthOf(large)).text);
    client.socket.write(`${head('GET', '/healthz')}\r\n`);
    for (let i = 0; i < 10; i++) await turn();
    expect([client.text(), waiting.length]).toEqual(['', 1]);
    waiting[0]!();
    await eventually(() => expect(waiting).toHaveLength(2));
    expect(client.text()).toMatch(/\/v1\/first 1$/);
    waiting[1]!();
    await eventually(() => expect(statusesIn(client.text())).toEqual([200, 200, 200]));
    expect(client.text()).toContain(`/v1/second ${large}HTTP/1.1 200`);
    client.socket.destroy();
  });

  const HUGE = 'x'.repeat(20_000_000);

  /** Sends what is huge; how much of it is read while nobody can want it. */
  async function readOf(client: RawClient, served: Socket, text: string): Promise<number> {
    const before = served.bytesRead;
    client.socket.write(text);
    for (let i = 0; i < 500; i++) await turn();
    return served.bytesRead - before;
  }

  /** A new connection, from both ends. */
  async function connected(): Promise<[RawClient, Socket]> {
    const accepting = once(app.app.getHttpServer(), 'connection');
    const client = await connectRaw(app);
    return [client, ((await accepting) as [Socket])[0]];
  }

  it('are not read while they wait for the answer before them, but for a little', async () => {
    const waiting: (() => void)[] = [];
    upstream.answer = (request) => waiting.push(() => answerWith('{}')(request));
    const [client, served] = await connected();
    client.socket.write(proxied('POST', '/v1/first', lengthOf('1')).text);
    await eventually(() => expect(waiting).toHaveLength(1));
    expect(await readOf(client, served, proxied('POST', '/v1/second', lengthOf(HUGE)).text)).toBeLessThan(
      1_000_000,
    );
    waiting[0]!();
    await eventually(() => expect(waiting).toHaveLength(2));
    waiting[1]!();
    await eventually(() => expect(statusesIn(client.text())).toEqual([200, 200]));
    expect(upstream.requests[1]!.body).toHaveLength(HUGE.length);
    client.socket.destroy();
  });

  it('are not read while it is not known whose they are, but for a little', async () => {
    const { key } = await ownerWith(app, `${upstream.url}/v1`);
    const lock = await connect(app.database);
    await lock.query('BEGIN; LOCK TABLE proxy_keys');
    upstream.answer = answerWith('{}');
    const [client, served] = await connected();
    const text = `${head('POST', '/v1/a')}Authorization: Bearer ${key}\r\n${lengthOf(HUGE)}`;
    expect(await readOf(client, served, text)).toBeLessThan(1_000_000);
    await lock.query('COMMIT');
    await lock.end();
    await eventually(() => expect(statusesIn(client.text())).toEqual([200]));
    expect(upstream.requests[0]!.body).toHaveLength(HUGE.length);
    client.socket.destroy();
  });

  it('go on after a refusal when the body that nobody wanted has come', async () => {
    const client = await connectRaw(app, `${head('POST', '/v1/a')}Content-Length: 200000\r\n\r\n`);
    await eventually(() => expect(statusesIn(client.text())).toEqual([401]));
    client.socket.write('x'.repeat(200_000));
    client.socket.write(proxied('POST', '/v1/a', lengthOf('{}')).text);
    await eventually(() => expect(client.text()).toMatch(/\/v1\/a \{\}$/));
    client.socket.destroy();
  });
});

describe('a client that leaves', () => {
  it('has left all its requests in a pipeline, those that wait for their turn, too', async () => {
    const path = '/v1/chat/completions';
    upstream.answer = ({ socket, body }) => {
      if (body.includes('flood'))
        socket.write(STREAM_HEAD + chunk(`data: ${'x'.repeat(100_000)}\n\n`).toString());
    };
    const bodies = ['{"slow":1}', '{"stream":true,"flood":1}', '{"slow":2}'];
    const client = await connectRaw(
      app,
      bodies.map((body) => proxied('POST', path, lengthOf(body)).text).join(''),
    );
    await eventually(() => expect(upstream.requests).toHaveLength(3));
    client.socket.destroy();
    await eventually(() => expect(upstream.requests.every(({ socket }) => socket.destroyed)).toBe(true));
    await eventually(async () => expect(await recorded(path)).toEqual([...LEFT, ...LEFT, ...LEFT]));
    const { text } = await app.anonymous.get('/metrics').expect(200);
    expect(text).toMatch(/^mintkeep_proxy_open_streams 0$/m);
  });
});

describe('an answer in large pieces', () => {
  it.each([
    ['text', [1_000, 16_384, 20_000, 200]],
    ['bytes behind text', [9_000, 9_000, 9_000, 17_000, 100]],
    ['bytes', [40_000, 40_000, 1, 40_000]],
  ])('comes to its end: %s', async (_what, sizes) => {
    const events = sizes.map((size) => `data: ${'x'.repeat(size)}\n\n`);
    upstream.answer = ({ socket }) => {
      socket.write(STREAM_HEAD + events.map((text) => chunk(text).toString()).join('') + LAST_CHUNK);
    };
    for (let i = 0; i < 5; i++) {
      const client = await connectRaw(app, proxied('POST', '/v1/large', lengthOf('{}')).text);
      const answer = await eventually(() => {
        const [read] = readAll([proxied('POST', '/v1/large', '')], client.text());
        expect(read?.isComplete).toBe(true);
        return read!;
      });
      expect(answer.body).toBe(events.join(''));
      client.socket.destroy();
    }
  });

  it('stays as it is while its client does not read it, and others get theirs', async () => {
    const size = 40_000;
    upstream.answer = (request) => answerWith(request.body.toString().repeat(size))(request);
    const ask = (letter: string) => proxied('POST', '/v1/large', lengthOf(letter));
    const client = await connectRaw(app);
    client.socket.pause();
    const letters: string[] = [];
    do {
      const letter = String.fromCharCode(97 + (letters.length % 26));
      letters.push(letter);
      client.socket.write(ask(letter).text);
    } while (letters.length < 1_000 && (await isAskedOf(letters.length))); // until there is no room for an answer
    for (let i = 0; i < 20; i++) {
      const other = await connectRaw(app, ask('#').text);
      await eventually(() => expect(other.text().length).toBeGreaterThan(size));
      other.socket.destroy();
    }
    client.socket.resume();
    const answers = await eventually(() => {
      const all = readAll(letters.map(ask), client.text());
      expect(all.filter(({ isComplete }) => isComplete)).toHaveLength(letters.length);
      return all;
    });
    const others = answers.filter(({ body }, i) => body !== letters[i]!.repeat(size));
    expect(others).toEqual([]);
    client.socket.destroy();
  });

  /** Whether so many requests come to the upstream. */
  async function isAskedOf(count: number): Promise<boolean> {
    const until = performance.now() + 1_000;
    while (upstream.requests.length < count && performance.now() < until) await turn();
    return upstream.requests.length === count;
  }

  it('is reset where it breaks off, for a client whose version takes the end of a connection for its own', async () => {
    upstream.answer = ({ socket }) => {
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
  it('that expects 100 Continue behind another one gets its answer whole', async () => {
    const waiting: (() => void)[] = [];
    upstream.answer = (request) =>
      waiting.push(() => answerWith('y'.repeat(20_000), { type: 'text/plain' })(request));
    const second = proxied('POST', '/v1/second', `Expect: 100-continue\r\n${lengthOf('{"b":2}')}`);
    const requests = [proxied('POST', '/v1/first', lengthOf('{"a":1}')), second];
    const client = await connectRaw(app, requests.map(({ text }) => text).join(''));
    await eventually(() => expect(waiting).toHaveLength(2));
    for (const answer of waiting) answer();
    const answers = await eventually(() => {
      const all = readAll(requests, client.text());
      expect(all.filter(({ isComplete }) => isComplete)).toHaveLength(2);
      return all;
    });
    for (const { body } of answers) expect(body).toBe('y'.repeat(20_000));
    client.socket.destroy();
  });

  it('may name the server in its target', async () => {
    const client = await connectRaw(app, `GET http://x/v1/b?c=d HTTP/1.1\r\nHost: x\r\n${credential}\r\n`);
    await eventually(() => expect(client.text()).toMatch(/\/v1\/b\?c=d $/));
    expect(await recorded('/v1/b')).not.toEqual([]);
    client.socket.write('GET http://x/healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    await eventually(() => expect(statusesIn(client.text())).toEqual([200, 200]));
    client.socket.destroy();
  });

  it('has one Host', async () => {
    const client = await connectRaw(app, `GET /v1/b HTTP/1.1\r\nHost: x\r\nhost: y\r\n${credential}\r\n`);
    expect(statusesIn(await client.closed)).toEqual([400]);
  });

  it('is not sent again once its upstream has said 100', async () => {
    const seen: string[] = [];
    upstream.answer = (request) => {
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

describe('a connection', () => {
  it('is kept between requests for longer than headers may take, and then closed', async () => {
    const client = await connectRaw(app, proxied('POST', '/v1/a', lengthOf('{}')).text);
    await once(client.socket, 'data');
    const answeredAt = performance.now();
    expect(statusesIn(await client.closed)).toEqual([200]);
    expect(performance.now() - answeredAt).toBeGreaterThan(KEEP_ALIVE_TIMEOUT_MS - 50);
  });

  it('tells for how long it is kept', async () => {
    const client = await connectRaw(app, proxied('POST', '/v1/a', lengthOf('{}')).text);
    const [answer] = (await once(client.socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(
      /\r\nDate: \w{3}, .* GMT\r\nConnection: keep-alive\r\nKeep-Alive: timeout=1\r\n/,
    );
    client.socket.destroy();
  });

  it('that the client half closes while it waits ends, as do the request and its record', async () => {
    upstream.answer = () => undefined;
    const client = await connectRaw(app, proxied('POST', '/v1/half', lengthOf('{}')).text);
    await eventually(() => expect(upstream.requests).toHaveLength(1));
    client.socket.end();
    expect(await client.closed).toBe('');
    await eventually(async () => expect(await recorded('/v1/half')).toEqual(LEFT));
    await eventually(() => expect(upstream.requests[0]!.socket.destroyed).toBe(true));
  });

  it('that ends within a body starts nothing, and its request is on record', async () => {
    const client = await connectRaw(
      app,
      `${head('POST', '/v1/ended')}${credential}Content-Length: 10\r\n\r\n12345`,
    );
    client.socket.end();
    expect(statusesIn(await client.closed)).toEqual([400]);
    await eventually(async () => expect(await recorded('/v1/ended')).toEqual(LEFT));
    expect(upstream.requests).toEqual([]);
  });
});
