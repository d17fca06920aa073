import { once } from 'node:events';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import type { TestOwner } from '../support/owners.js';
import { call, open, ownerWith } from '../support/proxy-client.js';
import { connectRaw, statusesIn } from '../support/raw-client.js';
import { answerWith, chunk, LAST_CHUNK, startRawUpstream, STREAM_HEAD } from '../support/raw-upstream.js';
import type { RawUpstream } from '../support/raw-upstream.js';
import { sessionFor } from '../support/sessions.js';

const HEADERS_TIMEOUT_MS = 400;
const BODY_TIMEOUT_MS = 1_000;
const KEEP_ALIVE_TIMEOUT_MS = 1_500;
const BODY_LIMIT_BYTES = 10_000;
/** What clients say of their connection: requests of those that keep it are read by us, others by Node. */
const CONNECTIONS = ['keep-alive', 'close'];

let app: TestApp;
let upstream: RawUpstream;
let owner: TestOwner;
let key: string;
/** The head of a request, but for the framing of its body. */
let toProxy: string;
let toProjects: string;

beforeAll(async () => {
  app = await startApp({
    UPSTREAM_PRIVATE_NETWORKS: 'allow',
    HEADERS_TIMEOUT_MS: String(HEADERS_TIMEOUT_MS),
    BODY_TIMEOUT_MS: String(BODY_TIMEOUT_MS),
    KEEP_ALIVE_TIMEOUT_MS: String(KEEP_ALIVE_TIMEOUT_MS),
    CLIENT_IDLE_TIMEOUT_MS: '800',
    PROXY_BODY_LIMIT: String(BODY_LIMIT_BYTES),
  });
  upstream = await startRawUpstream(answerWith('{}'));
  ({ owner, key } = await ownerWith(app, `${upstream.url}/v1`));
  toProxy = `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n`;
  toProjects = `POST /me/projects HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${await sessionFor(owner.user)}\r\n`;
});
afterAll(async () => {
  await app.close();
  await upstream.close();
});
beforeEach(async () => {
  upstream.answer = answerWith('{}');
  upstream.requests.length = 0;
  await app.database.query('DELETE FROM usage_records');
});

const REFUSAL = /\r\n\r\n\{"error":\{"message":"[^"]+"\}\}$/;

/** What is on record of the test's requests, once it is this many. */
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
  it('that come one by one, without an end, are 408', async () => {
    const client = await connectRaw(app, 'GET /healthz HTTP/1.1\r\nHost: x\r\n');
    const beganAt = performance.now();
    client.repeat('X-Slow: 1\r\n', 50);
    const answer = await client.closed;
    expect(performance.now() - beganAt).toBeGreaterThan(HEADERS_TIMEOUT_MS - 50);
    expect(statusesIn(answer)).toEqual([408]);
    expect(answer).toMatch(REFUSAL);
    expect(answer).toMatch(/X-Request-Id: [\w-]{20,}/);
  });

  it('are 408 on a connection on which nothing comes', async () => {
    expect(statusesIn(await (await connectRaw(app)).closed)).toEqual([408]);
  });

  it('that are complete only after the refusal start nothing', async () => {
    const client = await connectRaw(app, `${toProxy}Content-Length: 2\r\n`);
    await once(client.socket, 'data');
    client.socket.write('\r\n{}');
    expect(statusesIn(await client.closed)).toEqual([408]);
    expect(upstream.requests).toEqual([]);
  });

  it('without an end are 431, also for who goes on sending', async () => {
    const client = await connectRaw(app, 'GET /healthz HTTP/1.1\r\nHost: x\r\nX-Endless: ');
    client.repeat('x'.repeat(100_000), 1);
    const answer = await client.closed;
    expect(statusesIn(answer)).toEqual([431]);
    expect(answer).toMatch(REFUSAL);
  });

  it.each([
    [100, 200],
    [101, 431],
    [3_000, 431],
  ])('that are %d are %d', async (count, status) => {
    const more = Array.from({ length: count - 2 }, (_, i) => `${i}:\r\n`).join('');
    const head = `GET /healthz HTTP/1.1\r\nHost: x\r\n${more}Connection: close\r\n\r\n`;
    const answer = await (await connectRaw(app, head)).closed;
    expect(statusesIn(answer)).toEqual([status]);
    expect(answer).toMatch(/X-Request-Id: /i);
  });

  it('that are too many never reach an upstream, with or without the key among the first', async () => {
    const many = Array.from({ length: 200 }, (_, i) => `x-${i}: 1\r\n`).join('');
    for (const head of [toProxy + many, toProxy.replace('Host: x\r\n', `Host: x\r\n${many}`)])
      expect(statusesIn(await (await connectRaw(app, `${head}\r\n`)).closed)).toEqual([431]);
    expect(upstream.requests).toEqual([]);
  });

  it('may be 10,000 where the settings say so, and all of them count', async () => {
    const settings = { HEADER_LIMIT: '1000000', HEADER_COUNT_LIMIT: '10000' };
    const other = await startApp(settings, { database: app.database });
    const headers = (count: number) => Array.from({ length: count }, (_, i) => `x-${i}: 1\r\n`).join('');
    const session = /Authorization: .*\r\n/.exec(toProjects)![0];
    const get = 'GET /me/projects HTTP/1.1\r\nHost: x\r\nConnection: close\r\n';
    for (const [count, status] of [
      [9_997, 200],
      [9_998, 431],
    ] as const) {
      const client = await connectRaw(other, `${get}${headers(count)}${session}\r\n`);
      expect(statusesIn(await client.closed)).toEqual([status]);
    }
    await other.close();
  });
});

describe('bodies', () => {
  it('that come byte by byte are 408', async () => {
    for (const head of [toProjects, toProxy]) {
      const client = await connectRaw(app, `${head}Content-Length: 1000\r\n\r\n`);
      client.repeat('x', 50);
      const answer = await client.closed;
      expect(statusesIn(answer)).toEqual([408]);
      expect(answer).toMatch(REFUSAL);
    }
    expect(upstream.requests).toEqual([]);
    expect(await recorded(1)).toEqual([{ outcome: 'client_gone', status: 499 }]);
  });

  it('without an end are refused at once, and are not read for ever', async () => {
    const endless = 'Transfer-Encoding: chunked\r\n\r\n';
    const piece = chunk('x'.repeat(50_000)).toString();
    const keyless = 'POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n';
    for (const [head, status] of [
      [toProjects, 400],
      [toProxy, 413],
      [keyless, 401],
      ['POST /nowhere HTTP/1.1\r\nHost: x\r\n', 404],
    ] as const) {
      const client = await connectRaw(app, head + endless);
      client.repeat(piece, 5);
      expect(statusesIn(await client.closed)).toEqual([status]);
    }
    expect(await recorded(1)).toEqual([{ outcome: 'client_error', status: 413 }]);
  });

  it('that were refused, but end, leave the connection open', async () => {
    const body = 'x'.repeat(BODY_LIMIT_BYTES + 1);
    const refused = `${toProxy}Content-Length: ${body.length}\r\n\r\n`;
    const client = await connectRaw(app, refused);
    await once(client.socket, 'data');
    client.socket.write(body);
    upstream.answer = () => undefined;
    client.socket.write(`${toProxy}Content-Length: 2\r\n\r\n{}`);
    // Longer than the rest of a body is waited for.
    for (let i = 0; i < 4; i++) await (await connectRaw(app)).closed;
    answerWith('{}')(upstream.requests[0]!);
    await eventually(() => expect(statusesIn(client.text())).toEqual([413, 200]));
    client.socket.write('nonsense\r\n\r\n');
    expect(statusesIn(await client.closed)).toEqual([413, 200, 400]);
    await recorded(2);
  });

  it('with chunks of nothing but extensions are 413', async () => {
    const client = await connectRaw(app, `${toProjects}Transfer-Encoding: chunked\r\n\r\n1;`);
    client.repeat('x'.repeat(10_000), 5);
    expect(statusesIn(await client.closed)).toEqual([413]);
  });
});

describe('connections', () => {
  it('are kept between requests for longer than headers may take, and then closed', async () => {
    const ask = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
    const client = await connectRaw(app, ask);
    await once(client.socket, 'data');
    const answeredAt = performance.now();
    expect(statusesIn(await client.closed)).toEqual([200]);
    expect(performance.now() - answeredAt).toBeGreaterThan(KEEP_ALIVE_TIMEOUT_MS - 50);
  });

  it('answer requests that come all at once, in their order', async () => {
    const body = '{"name": "Pipelined"}';
    const create = `${toProjects}Content-Length: ${body.length}\r\n\r\n${body}`;
    const ask = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
    const proxied = `${toProxy}Content-Length: 2\r\n\r\n{}`;
    const all = [create, ask('/healthz'), proxied, ask('/nowhere'), proxied, 'nonsense\r\n\r\n'];
    const client = await connectRaw(app, all.slice(0, -1).join(''));
    await eventually(() => expect(statusesIn(client.text())).toEqual([201, 200, 200, 404, 200]));
    await eventually(() => expect(client.text()).toMatch(/\r\n\r\n\{\}$/));
    client.socket.write(all.at(-1)!);
    expect(statusesIn(await client.closed)).toEqual([201, 200, 200, 404, 200, 400]);
    await recorded(2);
  });

  it('that wait for an answer get no other one in its place', async () => {
    upstream.answer = () => undefined;
    const client = await connectRaw(app, `${toProxy}Content-Length: 2\r\n\r\n{}nonsense\r\n\r\n`);
    expect(await client.closed).toBe('');
    expect(await recorded(1)).toEqual([{ outcome: 'client_gone', status: 499 }]);
  });

  it.each(CONNECTIONS)(
    'are not closed while an answer takes longer than its request (%s)',
    async (connection) => {
      upstream.answer = ({ socket }) => {
        socket.write(STREAM_HEAD);
        socket.write(chunk('data: {}\n\n'));
      };
      const reply = call(app, key, { body: '{"stream":true}', headers: { connection } });
      // Whoever sends nothing meanwhile is looked at, and cut off, in the same moments.
      for (let i = 0; i < 4; i++) await (await connectRaw(app)).closed;
      upstream.requests[0]!.socket.write(LAST_CHUNK);
      expect(await reply).toMatchObject({ status: 200, complete: true, text: 'data: {}\n\n' });
      expect(await recorded(1)).toEqual([{ outcome: 'ok', status: 200 }]);
    },
  );
});

describe('a client that takes nothing of its answer', () => {
  it.each(CONNECTIONS)(
    'is cut off with its request at the upstream, and on record (%s)',
    async (connection) => {
      upstream.answer = ({ socket }) => {
        socket.write(STREAM_HEAD);
        const more = () => {
          while (!socket.destroyed && socket.write(chunk(`data: ${'x'.repeat(60_000)}\n\n`)));
        };
        socket.on('drain', more);
        more();
      };
      const response = await open(app, key, { body: '{"stream":true}', headers: { connection } });
      response.pause();
      expect(await recorded(1)).toEqual([{ outcome: 'client_gone', status: 499 }]);
      await eventually(() => expect(upstream.sockets.size).toBe(0));
      response.destroy();
    },
  );

  it('does not keep its connection when the answer is ours', async () => {
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
