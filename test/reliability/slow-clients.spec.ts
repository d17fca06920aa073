import { once } from 'node:events';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import type { TestOwner } from '../support/owners.js';
import { call, open, ownerWith } from '../support/proxy-client.js';
import { connectRaw, statusesIn } from '../support/raw-client.js';
import {
  respondWith,
  chunk,
  LAST_CHUNK,
  startRawUpstream,
  STREAM_HEADERS,
  thenClose,
} from '../support/raw-upstream.js';
import type { RawUpstream } from '../support/raw-upstream.js';
import { sessionFor } from '../support/sessions.js';

const HEADERS_TIMEOUT_MS = 400;
const BODY_TIMEOUT_MS = 1_000;
const KEEP_ALIVE_TIMEOUT_MS = 1_500;
const BODY_LIMIT_BYTES = 10_000;
/** Values of `Connection`: only requests with `keep-alive` take the fast path. */
const CONNECTIONS = ['keep-alive', 'close'];

/** Has short timeouts. */
let app: TestApp;
/** Has the usual ones: for what must not be cut off because the machine is busy. */
let patient: TestApp;
let upstream: RawUpstream;
let owner: TestOwner;
let key: string;
/** Request line and headers, without the headers that frame the body. */
let toProxy: string;
let toProjects: string;

beforeAll(async () => {
  const settings = { UPSTREAM_PRIVATE_NETWORKS: 'allow', PROXY_BODY_LIMIT: String(BODY_LIMIT_BYTES) };
  const limits = {
    headersTimeoutMs: HEADERS_TIMEOUT_MS,
    bodyTimeoutMs: BODY_TIMEOUT_MS,
    keepAliveTimeoutMs: KEEP_ALIVE_TIMEOUT_MS,
    clientIdleTimeoutMs: 800,
  };
  patient = await startApp(settings);
  app = await startApp(settings, patient, limits);
  upstream = await startRawUpstream(respondWith('{}'));
  ({ owner, key } = await ownerWith(patient, `${upstream.url}/v1`));
  toProxy = `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n`;
  toProjects = `POST /me/projects HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${await sessionFor(owner.user)}\r\n`;
});
afterAll(async () => {
  await app.close();
  await patient.close();
  await upstream.close();
});
beforeEach(async () => {
  upstream.respond = respondWith('{}');
  upstream.requests.length = 0;
  await app.database.query('DELETE FROM usage_records');
});

const REJECTION = /\r\n\r\n\{"error":\{"message":"[^"]+"\}\}$/;

/** Waits until this many requests of the test are recorded. */
async function recorded(count: number) {
  const { query } = app.database;
  return eventually(async () => {
    const rows = await query<{ outcome: string; status: number }>(
      'SELECT outcome, status FROM usage_records ORDER BY at',
    );
    expect(rows).toHaveLength(count);
    return rows;
  });
}

describe('headers', () => {
  it('are rejected with 408 if they arrive one by one without an end', async () => {
    const beganAt = performance.now();
    const client = await connectRaw(app, 'GET /healthz HTTP/1.1\r\nHost: x\r\n');
    client.repeat('X-Slow: 1\r\n', 50);
    const response = await client.closed;
    expect(performance.now() - beganAt).toBeGreaterThan(HEADERS_TIMEOUT_MS - 50);
    expect(statusesIn(response)).toEqual([408]);
    expect(response).toMatch(REJECTION);
    expect(response).toMatch(/X-Request-Id: [\w-]{20,}/);
  });

  it('are rejected with 408 if the connection stays silent', async () => {
    expect(statusesIn(await (await connectRaw(app)).closed)).toEqual([408]);
  });

  it('start no request if they are complete only after the rejection', async () => {
    const client = await connectRaw(app, `${toProxy}Content-Length: 2\r\n`);
    await once(client.socket, 'data');
    client.socket.write('\r\n{}');
    expect(statusesIn(await client.closed)).toEqual([408]);
    expect(upstream.requests).toEqual([]);
  });

  it('are rejected with 431 if a line has no end, also while the client goes on sending', async () => {
    const client = await connectRaw(patient, 'GET /healthz HTTP/1.1\r\nHost: x\r\nX-Endless: ');
    client.repeat('x'.repeat(100_000), 1);
    const response = await client.closed;
    expect(statusesIn(response)).toEqual([431]);
    expect(response).toMatch(REJECTION);
  });

  it.each([
    [100, 200],
    [101, 431],
    [3_000, 431],
  ])('lead, with %d lines, to status %d', async (count, status) => {
    const more = Array.from({ length: count - 2 }, (_, i) => `${i}:\r\n`).join('');
    const headers = `GET /healthz HTTP/1.1\r\nHost: x\r\n${more}Connection: close\r\n\r\n`;
    const response = await (await connectRaw(patient, headers)).closed;
    expect(statusesIn(response)).toEqual([status]);
    expect(response).toMatch(/X-Request-Id: /i);
  });

  it('never reach an upstream above the maximum number, wherever the key is among them', async () => {
    const many = Array.from({ length: 200 }, (_, i) => `x-${i}: 1\r\n`).join('');
    for (const headers of [toProxy + many, toProxy.replace('Host: x\r\n', `Host: x\r\n${many}`)])
      expect(statusesIn(await (await connectRaw(patient, `${headers}\r\n`)).closed)).toEqual([431]);
    expect(upstream.requests).toEqual([]);
  });
});

describe('bodies', () => {
  it('are rejected with 408 if they arrive byte by byte', async () => {
    for (const headers of [toProjects, toProxy]) {
      const client = await connectRaw(app, `${headers}Content-Length: 1000\r\n\r\n`);
      client.repeat('x', 50);
      const response = await client.closed;
      expect(statusesIn(response)).toEqual([408]);
      expect(response).toMatch(REJECTION);
    }
    expect(upstream.requests).toEqual([]);
    expect(await recorded(1)).toEqual([{ outcome: 'client_gone', status: 499 }]);
  });

  it('are rejected at once if they have no end, and are not read for ever', async () => {
    const endless = 'Transfer-Encoding: chunked\r\n\r\n';
    const piece = chunk('x'.repeat(50_000)).toString();
    const keyless = 'POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n';
    for (const [headers, status] of [
      [toProjects, 400],
      [toProxy, 413],
      [keyless, 401],
      ['POST /nowhere HTTP/1.1\r\nHost: x\r\n', 404],
    ] as const) {
      const client = await connectRaw(app, headers + endless + piece.repeat(30)); // exceeds each limit at once
      client.repeat(piece, 5);
      expect(statusesIn(await client.closed)).toEqual([status]);
    }
    expect(await recorded(1)).toEqual([{ outcome: 'client_error', status: 413 }]);
  });

  it('leave the connection open if they are rejected but complete', async () => {
    const body = 'x'.repeat(BODY_LIMIT_BYTES + 1);
    const rejected = `${toProxy}Content-Length: ${body.length}\r\n\r\n`;
    const client = await connectRaw(app, rejected);
    await once(client.socket, 'data');
    client.socket.write(body);
    upstream.respond = () => undefined;
    client.socket.write(`${toProxy}Content-Length: 2\r\n\r\n{}nonsense\r\n\r\n`);
    // Exceeds the time that the service waits for the rest of a body.
    for (let i = 0; i < 4; i++) await (await connectRaw(app)).closed;
    respondWith('{}')(upstream.requests[0]!);
    expect(statusesIn(await client.closed)).toEqual([413, 200, 400]);
    await recorded(2);
  });

  it('are rejected with 413 if their chunk extensions have no end', async () => {
    const client = await connectRaw(patient, `${toProjects}Transfer-Encoding: chunked\r\n\r\n1;`);
    client.repeat('x'.repeat(10_000), 5);
    expect(statusesIn(await client.closed)).toEqual([413]);
  });
});

describe('connections', () => {
  it('stay open between requests for the keep-alive timeout, and are then closed', async () => {
    const get = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
    const beganAt = performance.now();
    const client = await connectRaw(app, get);
    expect(statusesIn(await client.closed)).toEqual([200]);
    expect(performance.now() - beganAt).toBeGreaterThan(KEEP_ALIVE_TIMEOUT_MS - 50);
  });

  it('deliver the responses of a pipeline in the order of its requests', async () => {
    const body = '{"name": "Pipelined"}';
    const create = `${toProjects}Content-Length: ${body.length}\r\n\r\n${body}`;
    const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
    const proxied = `${toProxy}Content-Length: 2\r\n\r\n{}`;
    const all = [create, get('/healthz'), proxied, get('/nowhere'), proxied, 'nonsense\r\n\r\n'];
    const client = await connectRaw(patient, all.slice(0, -1).join(''));
    await eventually(() => expect(statusesIn(client.text())).toEqual([201, 200, 200, 404, 200]));
    await eventually(() => expect(client.text()).toMatch(/\r\n\r\n\{\}$/));
    client.socket.write(all.at(-1)!);
    expect(statusesIn(await client.closed)).toEqual([201, 200, 200, 404, 200, 400]);
    await recorded(2);
  });

  it('deliver a pending response ahead of the rejection of a later request', async () => {
    upstream.respond = () => undefined;
    const client = await connectRaw(patient, `${toProxy}Content-Length: 2\r\n\r\n{}nonsense\r\n\r\n`);
    await eventually(() => expect(upstream.requests).toHaveLength(1));
    expect(client.text()).toBe('');
    thenClose(respondWith('{}'))(upstream.requests[0]!);
    expect(statusesIn(await client.closed)).toEqual([200, 400]);
    expect(await recorded(1)).toEqual([{ outcome: 'ok', status: 200 }]);
  });

  it.each(CONNECTIONS)(
    'stay open while a response takes longer than the timeouts of requests (%s)',
    async (connection) => {
      upstream.respond = ({ socket }) => {
        socket.write(STREAM_HEADERS);
        socket.write(chunk('data: {}\n\n'));
      };
      const reply = call(app, key, { body: '{"stream":true}', headers: { connection } });
      // Silent connections are checked and closed at the same times.
      for (let i = 0; i < 4; i++) await (await connectRaw(app)).closed;
      upstream.requests[0]!.socket.write(LAST_CHUNK);
      expect(await reply).toMatchObject({ status: 200, complete: true, text: 'data: {}\n\n' });
      expect(await recorded(1)).toEqual([{ outcome: 'ok', status: 200 }]);
    },
  );
});

describe('a client that does not read its response', () => {
  it.each(CONNECTIONS)(
    'is disconnected together with its upstream request, and is recorded (%s)',
    async (connection) => {
      upstream.respond = ({ socket }) => {
        socket.write(STREAM_HEADERS);
        const more = () => {
          while (!socket.destroyed && socket.write(chunk(`data: ${'x'.repeat(60_000)}\n\n`)));
        };
        socket.on('drain', more);
        more();
      };
      const response = await open(app, key, { body: '{"stream":true}', headers: { connection } });
      response.pause();
      expect(await recorded(1)).toEqual([{ outcome: 'client_gone', status: 499 }]);
      await eventually(() => expect(upstream.requests[0]!.socket.destroyed).toBe(true));
      response.destroy();
    },
  );

  it('is disconnected while it receives a response of the service itself', async () => {
    const { body: project } = await owner.admin.post('/me/projects').send({ name: 'Large' }).expect(201);
    const documents = `/me/projects/${project.id}/documents`;
    const content = 'x'.repeat(1_000_000);
    const { body } = await owner.admin.post(documents).send({ title: 'T', slug: 't', content }).expect(201);
    const get = toProjects.replace('POST /me/projects', `GET ${documents}/${body.id}`);
    const server = app.app.getHttpServer();
    server.closeIdleConnections();
    const client = await connectRaw(app);
    client.socket.pause();
    client.socket.write(`${get}\r\n`.repeat(30));
    const connections = () => new Promise<number>((resolve) => server.getConnections((_, n) => resolve(n)));
    expect(await connections()).toBeGreaterThan(0);
    await eventually(async () => expect(await connections()).toBe(0));
    client.socket.destroy();
  });
});
