import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import fc from 'fast-check';
import { parseRequestHeaders } from './request-headers.js';

const LIMIT_BYTES = 16_384;

let server: Server;
/** Sends the bytes to Node's HTTP server, and returns the first request that its parser reads. */
let read: (bytes: Buffer) => Promise<{ request: IncomingMessage; body: Buffer } | undefined>;

beforeAll(async () => {
  server = createServer({ keepAliveTimeout: 1 }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  read = async (bytes) => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const done = new AbortController();
    const result = Promise.race([
      once(server, 'request', done).then(async ([request]: IncomingMessage[]) => ({
        request: request!,
        body: await buffer(request!),
      })),
      once(server, 'clientError', done).then(() => undefined),
    ]);
    socket.on('error', () => undefined).write(bytes);
    return result.finally(() => {
      socket.destroy();
      done.abort();
    });
  };
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const NEXT = Buffer.from('GET /next HTTP/1.1\r\nHost: x\r\n\r\n');

const name = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('Accept', 'x-a', 'User-Agent', 'authorization', 'X-A') },
  {
    weight: 2,
    arbitrary: fc.constantFrom('Connection', 'Transfer-Encoding', 'Content-Length', 'Host', 'Expect'),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('', 'a b', 'x:', 'é', '__proto__', 'constructor', 'x\0', ' x', 'x '),
  },
);
const value = fc.oneof(
  { weight: 4, arbitrary: fc.stringMatching(/^[\x20-\x7e\t]{0,20}$/) },
  {
    weight: 2,
    arbitrary: fc.constantFrom('keep-alive', 'close', 'chunked', '0', '3', '+3', '3, 3', 'é', '0x3'),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('a\rb', 'a\nb', 'a\0b', 'a\x7fb', '\r\n folded', '1e1', ' 3 ', '\t3'),
  },
);
const colon = fc.constantFrom(': ', ': ', ': ', ':', ' : ', ':\t');
const end = fc.oneof(
  { weight: 20, arbitrary: fc.constant('\r\n') },
  { weight: 1, arbitrary: fc.constantFrom('\n', '\r', '\r\r\n') },
);
const line = fc.tuple(name, colon, value, end).map((parts) => parts.join(''));
const first = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('POST /v1/x?y=1 HTTP/1.1\r\n', 'GET / HTTP/1.1\r\n') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'POST /v1 HTTP/1.0\r\n',
      'POST  /v1 HTTP/1.1\r\n',
      'BREW /v1 HTTP/1.1\r\n',
      'post /v1 HTTP/1.1\r\n',
      'POST /v1#x HTTP/1.1\r\n',
      'POST http://x/v1 HTTP/1.1\r\n',
      'POST /v1 HTTP/1.1\n',
      '\r\nGET / HTTP/1.1\r\n',
    ),
  },
);
const host = fc.constantFrom('Host: x\r\n', 'Host: x\r\n', 'Host: x\r\n', '');
const requestHeaders = fc
  .tuple(first, host, fc.array(line, { maxLength: 5 }))
  .map(([request, hosts, lines]) => `${request}${hosts}${lines.join('')}\r\n`);

it('reads what Node reads from the same bytes', async () => {
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(requestHeaders, async (text) => {
      const bytes = Buffer.from(text, 'latin1');
      const found = parseRequestHeaders(bytes, LIMIT_BYTES);
      if (!found) return;
      accepted++;
      const body = Buffer.alloc(found.bodyLength, 'x');
      const seen = await read(Buffer.concat([bytes, body, NEXT]));
      expect(found.headersLength).toBe(bytes.length);
      expect(seen!.body).toEqual(body);
      const { method, url, rawHeaders, headers } = seen!.request;
      expect(found).toMatchObject({ method, url, rawHeaders });
      expect({ ...found.headers }).toEqual({ ...headers });
    }),
    { numRuns: 1_000 },
  );
  expect(accepted).toBeGreaterThan(100);
});

const REST = 'Host: x\r\n\r\n';

it.each([
  ['that is incomplete', 'GET / HTTP/1.1\r\nHost: x\r\n'],
  ['without a host', 'GET / HTTP/1.1\r\n\r\n'],
  ['with two hosts', `GET / HTTP/1.1\r\nHost: y\r\n${REST}`],
  ['in HTTP/1.0', `GET / HTTP/1.0\r\n${REST}`],
  ['with an unknown method', `PURGE / HTTP/1.1\r\n${REST}`],
  ['with a target in absolute form', `GET http://x/ HTTP/1.1\r\n${REST}`],
  ['with a body in chunks', `POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n${REST}`],
  [
    'with a length and chunks',
    `POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n${REST}`,
  ],
  ['with two lengths', `POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n${REST}`],
  ['with an invalid length', `POST / HTTP/1.1\r\nContent-Length: +1\r\n${REST}`],
  ['with a tab', `POST / HTTP/1.1\r\nContent-Length: 1\t\r\n${REST}`],
  ['with a list of lengths', `POST / HTTP/1.1\r\nContent-Length: 1, 1\r\n${REST}`],
  ['that expects 100 Continue', `POST / HTTP/1.1\r\nExpect: 100-continue\r\n${REST}`],
  ['that ends its connection', `GET / HTTP/1.1\r\nConnection: close\r\n${REST}`],
  ['that upgrades to another protocol', `GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n${REST}`],
  ['with a folded line', `GET / HTTP/1.1\r\nX-A: 1\r\n 2\r\n${REST}`],
  ['with a blank before a colon', `GET / HTTP/1.1\r\nX-A : 1\r\n${REST}`],
  ['with a bare line feed', `GET / HTTP/1.1\r\nX-A: 1\n${REST}`],
  ['with a repeated header', `GET / HTTP/1.1\r\nX-A: 1\r\nx-a: 2\r\n${REST}`],
])('leaves a request to Node %s', (_, text) => {
  expect(parseRequestHeaders(Buffer.from(text), LIMIT_BYTES)).toBeUndefined();
});

it('leaves a request above the limit of its headers to Node', () => {
  const bytes = Buffer.from(`GET / HTTP/1.1\r\n${REST}`);
  expect(parseRequestHeaders(bytes, bytes.length - 4)).toMatchObject({ url: '/' });
  expect(parseRequestHeaders(bytes, bytes.length - 5)).toBeUndefined();
});
