import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { connect, lockedOut } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { call, open, ownerWith } from '../support/proxy-client.js';
import {
  respondWith,
  respondWithEvents,
  chunk,
  LAST_CHUNK,
  startRawUpstream,
  STREAM_HEADERS,
} from '../support/raw-upstream.js';
import type { Responder, RawUpstream } from '../support/raw-upstream.js';
import { recordOf } from '../support/recorded.js';
import { undisturbed } from '../support/standstill.js';

/** Generous, because upstream, service and client share one process on a busy machine. */
const IDLE_MS = 600;
/** Half of the shortest time after which the service cancels a request whose client stays. */
const LEAVE_LIMIT_MS = 60_000;
/** `Connection` header of the client. Requests with `keep-alive` take the fast path, requests with `close` the Node path. */
const CONNECTIONS = ['keep-alive', 'close'] as const;
/** Size of the response to a client that does not read. */
const OFFERED_BYTES = 60_000_000;
/** Maximum that the service may read of it: the kernel buffers of two connections, and little more. */
const TAKEN_LIMIT_BYTES = 24_000_000;

let app: TestApp;
/** Replica with a short idle timeout. */
let impatient: TestApp;
let upstream: RawUpstream;
let key: string;

beforeAll(async () => {
  app = await startApp({ UPSTREAM_PRIVATE_NETWORKS: 'allow' });
  const variables = { UPSTREAM_PRIVATE_NETWORKS: 'allow', UPSTREAM_IDLE_TIMEOUT_MS: String(IDLE_MS) };
  impatient = await startApp(variables, app);
  upstream = await startRawUpstream(respondWith('{}'));
  ({ key } = await ownerWith(app, upstream.url));
});
afterAll(async () => {
  await impatient.close();
  await app.close();
  await upstream.close();
});
beforeEach(() => (upstream.requests.length = 0));

const contentOf = (text: string) => `data: {"choices":[{"delta":{"content":"${text}"}}]}\n\n`;
const DONE = 'data: [DONE]\n\n';

/** Waits for the next request and returns its socket, on which the test writes the response. */
function socketOfNextRequest(): Promise<Socket> {
  return new Promise((resolve) => {
    upstream.respond = ({ socket }) => resolve(socket);
  });
}

async function textOf(response: IncomingMessage): Promise<{ text: string; complete: boolean }> {
  const pieces: Buffer[] = [];
  response.on('data', (piece: Buffer) => pieces.push(piece)).on('error', () => undefined);
  await once(response, 'close').catch(() => undefined);
  return { text: Buffer.concat(pieces).toString(), complete: response.complete };
}

describe.each([
  ['that asks for usage', '{"stream":true,"stream_options":{"include_usage":true}}'],
  ['that does not ask for usage', '{"stream":true}'],
])('a client %s', (_who, body) => {
  it('gets each event before the upstream sends the next', async () => {
    const requested = socketOfNextRequest();
    const opened = open(app, key, { body });
    const socket = await requested;
    socket.write(STREAM_HEADERS);
    socket.write(chunk(contentOf('0')));
    const response = await opened;
    for (let i = 0; i < 20; i++) {
      expect(String(await once(response, 'data'))).toBe(contentOf(String(i)));
      socket.write(chunk(contentOf(String(i + 1))));
    }
    socket.write(LAST_CHUNK);
    expect(await textOf(response)).toEqual({ text: contentOf('20'), complete: true });
  });

  it('gets the headers of a response of another type before the first byte of its body', async () => {
    const requested = socketOfNextRequest();
    const opened = open(app, key, { body });
    const socket = await requested;
    socket.write('HTTP/1.1 200 OK\r\nContent-Type: audio/mpeg\r\nContent-Length: 2\r\n\r\n');
    const response = await opened;
    socket.write('a');
    expect(String(await once(response, 'data'))).toBe('a');
    socket.write('b');
    expect(await textOf(response)).toEqual({ text: 'b', complete: true });
  });

  it('gets all events of a burst of small events', async () => {
    const events = Array.from({ length: 4_000 }, (_, i) => contentOf(`${i} ${'x'.repeat(i % 90)}`));
    upstream.respond = ({ socket }) => {
      const chunks = events.map((event) => chunk(event));
      socket.write(Buffer.concat([Buffer.from(STREAM_HEADERS), ...chunks, Buffer.from(LAST_CHUNK)]));
    };
    const reply = await call(app, key, { body });
    expect([reply.complete, reply.text === events.join('')]).toEqual([true, true]);
  });

  it('gets a regular end without [DONE] unchanged', async () => {
    upstream.respond = respondWithEvents(contentOf('Hi'));
    expect(await call(app, key, { body })).toMatchObject({ text: contentOf('Hi'), complete: true });
  });
});

/** Writes as much as the peer reads and reports the number of bytes. */
function flood(socket: Socket, piece: Buffer, end: string) {
  const progress = { bytes: 0, at: performance.now() };
  const offer = () => {
    progress.at = performance.now();
    for (let takes = true; takes && progress.bytes < OFFERED_BYTES; progress.bytes += piece.length)
      takes = socket.write(piece);
    if (progress.bytes >= OFFERED_BYTES) socket.off('drain', offer).write(end);
  };
  socket.on('drain', offer);
  offer();
  return progress;
}

/** Waits until the peer has stopped reading for longer than the idle timeout, and returns the bytes read. */
function bytesAtStall(progress: { bytes: number; at: number }): Promise<number> {
  return eventually(() => {
    expect(performance.now() - progress.at).toBeGreaterThan(2 * IDLE_MS);
    return progress.bytes;
  });
}

const LARGE_EVENT = Buffer.from(contentOf('x'.repeat(60_000)));

describe.each<[string, string, Buffer]>([
  ['a stream', STREAM_HEADERS + chunk(contentOf('a')).toString(), chunk(LARGE_EVENT)],
  ['a stream that starts with a large event', STREAM_HEADERS, chunk(LARGE_EVENT)],
  [
    'a response of another type',
    'HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nTransfer-Encoding: chunked\r\n\r\n',
    chunk(Buffer.alloc(65_536, 'x')),
  ],
])('a client that does not read %s', (_what, head, piece) => {
  it.each(CONNECTIONS)(
    'pauses the upstream, is not disconnected, and gets everything once it reads (%s)',
    (connection) =>
      undisturbed(async () => {
        const requested = socketOfNextRequest();
        const opening = open(impatient, key, { body: '{"stream":true}', headers: { connection } });
        const socket = await requested;
        socket.write(head);
        const progress = flood(socket, piece, LAST_CHUNK);
        const response = await opening;
        expect(await bytesAtStall(progress)).toBeLessThan(TAKEN_LIMIT_BYTES);
        let bytes = 0;
        response.on('data', (data: Buffer) => (bytes += data.length));
        await once(response, 'end');
        expect(response.complete).toBe(true);
        expect(progress.bytes).toBeGreaterThanOrEqual(OFFERED_BYTES);
        const framing = `${(piece.length - 8).toString(16)}\r\n\r\n`.length;
        expect(bytes).toBeGreaterThanOrEqual(
          Math.ceil(OFFERED_BYTES / piece.length) * (piece.length - framing),
        );
      }),
  );
});

it('reads a failed response up to a limit while it tries the next upstream, and then closes it', async () => {
  let progress = { bytes: 0, at: 0 };
  const failed = await startRawUpstream(({ socket }) => {
    socket.write('HTTP/1.1 500 Oh\r\nTransfer-Encoding: chunked\r\n\r\n');
    progress = flood(socket, chunk(LARGE_EVENT), LAST_CHUNK);
  });
  const { key: secret } = await ownerWith(app, failed.url, upstream.url);
  const requested = socketOfNextRequest();
  const opening = open(impatient, secret, { body: '{"stream":true}' });
  const socket = await requested;
  expect(await bytesAtStall(progress)).toBeLessThan(TAKEN_LIMIT_BYTES);
  expect(failed.sockets.size).toBe(1);
  socket.write(STREAM_HEADERS + chunk(contentOf('Hi')).toString());
  const response = await opening;
  await eventually(() => expect(failed.sockets.size).toBe(0));
  socket.write(LAST_CHUNK);
  expect(await textOf(response)).toEqual({ text: contentOf('Hi'), complete: true });
  await failed.close();
});

describe('a client that disconnects', () => {
  async function msUntilClosed(socket: Socket, leaving: AbortController): Promise<number> {
    const closed = new Promise((resolve) => socket.on('close', resolve));
    const leftAt = performance.now();
    leaving.abort();
    await closed;
    return performance.now() - leftAt;
  }

  async function leave(
    connection: string,
    write: (socket: Socket) => void,
    waitsForData: boolean,
  ): Promise<number> {
    const requested = socketOfNextRequest();
    const leaving = new AbortController();
    const headers = { connection };
    const opening = open(app, key, { body: '{"stream":true}', headers, signal: leaving.signal });
    opening.catch(() => undefined);
    const socket = await requested;
    write(socket);
    if (waitsForData) {
      const response = await opening;
      await once(
        response.on('error', () => undefined),
        'data',
      );
    }
    return msUntilClosed(socket, leaving);
  }

  const moments: [string, (socket: Socket) => void, boolean][] = [
    ['before the response', () => undefined, false],
    ['before the first event', (socket) => socket.write(STREAM_HEADERS), false],
    ['between two events', (socket) => socket.write(STREAM_HEADERS + chunk(contentOf('a')).toString()), true],
    [
      'within a response of another type',
      (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc'),
      true,
    ],
  ];
  const leavings = moments.flatMap(([when, ...rest]) =>
    CONNECTIONS.map((connection) => [when, connection, ...rest] as const),
  );

  it.each(leavings)(
    'cancels the upstream request at once %s (%s)',
    async (_when, connection, write, waitsForData) => {
      expect(await leave(connection, write, waitsForData)).toBeLessThan(LEAVE_LIMIT_MS);
    },
  );

  it('cancels the upstream request at once while it does not read', async () => {
    const requested = socketOfNextRequest();
    const leaving = new AbortController();
    const opening = open(app, key, { body: '{"stream":true}', signal: leaving.signal });
    const socket = await requested;
    socket.write(STREAM_HEADERS);
    const progress = flood(socket, chunk(LARGE_EVENT), LAST_CHUNK);
    (await opening).on('error', () => undefined);
    await bytesAtStall(progress);
    expect(await msUntilClosed(socket, leaving)).toBeLessThan(LEAVE_LIMIT_MS); // the stream has no regular end
  });

  it('causes no upstream request while the pool is being read', async () => {
    const { owner, key: secret } = await ownerWith(app, upstream.url);
    const lock = await connect(app.database);
    await lock.query('BEGIN; LOCK TABLE upstreams');
    const leaving = new AbortController();
    const headers = { 'x-request-id': 'left-before-the-pool' };
    const opening = open(app, secret, { body: '{}', headers, signal: leaving.signal });
    opening.catch(() => undefined);
    await lockedOut(app.database, 1);
    leaving.abort();
    expect(await recordOf(owner, headers['x-request-id'])).toMatchObject({ status: 499, attempts: [] });
    await lock.query('COMMIT');
    await lock.end();
    upstream.respond = respondWith('{}');
    await call(app, secret, { body: '{}' });
    expect(upstream.requests).toHaveLength(1);
  });

  it('causes no request to the next upstream', async () => {
    const other = await startRawUpstream(respondWith('{}'));
    const { owner, key: secret } = await ownerWith(app, upstream.url, other.url);
    const requested = socketOfNextRequest();
    const leaving = new AbortController();
    const headers = { 'x-request-id': 'left-before-any-response' };
    const opening = open(app, secret, { body: '{}', headers, signal: leaving.signal });
    opening.catch(() => undefined);
    await msUntilClosed(await requested, leaving);
    const { attempts } = await recordOf(owner, headers['x-request-id']);
    expect(attempts).toMatchObject([{ status: null, error: 'cancelled' }]);
    expect(attempts[0]!.ms).toBeGreaterThan(0);
    expect(other.requests).toEqual([]);
    await other.close();
  });
});

const staySilent = () => undefined;

describe('a stream that the upstream interrupts ends with an error event and without a regular end:', () => {
  const ends: [string, (socket: Socket) => void][] = [
    ['a reset', (socket) => setImmediate(() => socket.resetAndDestroy())],
    ['an end without the last chunk', (socket) => socket.end()],
    ['half a chunk', (socket) => socket.end('ff\r\n')],
    ['a malformed chunk', (socket) => socket.write('what?\r\n')],
    ['silence', staySilent],
  ];
  const details = {
    type: 'api_error',
    message: expect.any(String),
    code: 'stream_interrupted',
    param: null,
  };
  const dialects: [string, string, string, string, object][] = [
    ['chat', '/v1/chat/completions', contentOf('Hi'), 'data: ', { error: details }],
    [
      'messages',
      '/v1/messages',
      'event: ping\r\ndata: {"type":"ping"}\r\n\r\n',
      'event: error\ndata: ',
      { type: 'error', error: details, request_id: expect.any(String) },
    ],
    [
      'responses',
      '/v1/responses',
      'event: response.created\ndata: {"type":"response.created","sequence_number":41}\n\n',
      'event: error\ndata: ',
      {
        type: 'error',
        sequence_number: 42,
        code: 'stream_interrupted',
        message: expect.any(String),
        param: null,
        error: details,
      },
    ],
  ];
  const interruptions = dialects.flatMap(([dialect, ...rest]) =>
    ends.flatMap(([what, end]) =>
      CONNECTIONS.map((connection) => [dialect, what, connection, end, ...rest] as const),
    ),
  );

  it.each(interruptions)(
    '%s, after %s (%s)',
    async (_dialect, _what, connection, end, path, event, start, error) => {
      upstream.respond = ({ socket }) => {
        socket.write(STREAM_HEADERS);
        socket.write(chunk(event), () => end(socket));
      };
      const headers = { connection };
      const to = end === staySilent ? impatient : app;
      const { text, complete } = await call(to, key, { path, body: '{"stream":true}', headers });
      expect([text.startsWith(event), complete]).toEqual([true, false]);
      const last = text.slice(event.length);
      expect([last.startsWith(start), last.endsWith('\n\n')]).toEqual([true, true]);
      expect(JSON.parse(last.slice(start.length))).toEqual(error);
    },
  );

  it.each([
    ['half a line', 'data: {"x":', '\n\n'],
    ['a line', 'data: {"x":1}\n', '\n'],
    ['a line with CRLF', 'data: {"x":1}\r\n', '\n'],
    ['an empty line with CRLF', 'data: {"x":1}\r\n\r\n', ''],
  ])('separates the error event from %s', async (_what, begun, separator) => {
    upstream.respond = ({ socket }) => {
      socket.write(STREAM_HEADERS);
      socket.end(Buffer.concat([chunk(contentOf('Hi')), chunk(begun)]));
    };
    const { text, complete } = await call(app, key, { path: '/v1/messages', body: '{"stream":true}' });
    expect(text.startsWith(`${contentOf('Hi')}${begun}${separator}event: error\ndata: {`)).toBe(true);
    expect(complete).toBe(false);
  });

  it('drops an incomplete line that may be the usage event', async () => {
    upstream.respond = ({ socket }) => {
      socket.write(STREAM_HEADERS);
      socket.end(Buffer.concat([chunk(contentOf('Hi')), chunk('data: {"choices":[],"us')]));
    };
    const { text } = await call(app, key, { body: '{"stream":true}' });
    expect(text.startsWith(`${contentOf('Hi')}data: {"error":{`)).toBe(true);
  });

  it('drops the announced length, which the error event changes', async () => {
    const event = contentOf('Hi');
    upstream.respond = ({ socket }) =>
      socket.end(`HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 999\r\n\r\n${event}`);
    const { text, complete, headers } = await call(app, key, {
      path: '/v1/messages',
      body: '{"stream":true}',
    });
    expect([text.startsWith(`${event}event: error\ndata: {`), complete]).toEqual([true, false]);
    expect(headers).not.toHaveProperty('content-length');
  });

  it('adds no error event to a compressed stream', async () => {
    const part = gzipSync(contentOf('Hi')).subarray(0, 20);
    upstream.respond = ({ socket }) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\n`);
      socket.write('Transfer-Encoding: chunked\r\n\r\n');
      socket.end(chunk(part));
    };
    const { body, complete } = await call(app, key, { path: '/v1/messages', body: '{"stream":true}' });
    expect([body.equals(part), complete]).toEqual([true, false]);
  });

  it('closes the connection of a silent upstream', async () => {
    const silent: Responder = ({ socket }) => {
      socket.write(STREAM_HEADERS);
      socket.write(chunk(contentOf('Hi')));
    };
    upstream.respond = silent;
    await call(impatient, key, { body: '{"stream":true}' });
    const { socket } = upstream.requests[0]!;
    await eventually(() => expect(socket.destroyed).toBe(true));
  });
});

it('relays a stream that takes longer than the idle timeout', () =>
  undisturbed(async () => {
    const requested = socketOfNextRequest();
    const opening = open(impatient, key, { body: '{"stream":true}' });
    const socket = await requested;
    socket.write(STREAM_HEADERS);
    const startedAt = performance.now();
    const timer = setInterval(() => {
      socket.write(chunk(contentOf('x')));
      if (performance.now() - startedAt < 3 * IDLE_MS) return;
      clearInterval(timer);
      socket.write(Buffer.concat([chunk(DONE), Buffer.from(LAST_CHUNK)]));
    }, IDLE_MS / 4);
    socket.once('close', () => clearInterval(timer));
    const { text, complete } = await textOf(await opening);
    expect([text.endsWith(DONE), complete]).toEqual([true, true]);
  }));
