import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { startUpstream } from '../support/fake-upstream.js';
import type { FakeUpstream } from '../support/fake-upstream.js';
import type { TestOwner } from '../support/owners.js';
import { inParallel } from '../support/parallel.js';
import { call, fillPool, open, ownerWith } from '../support/proxy-client.js';
import type { Reply } from '../support/proxy-client.js';
import { connectRaw, statusesIn } from '../support/raw-client.js';
import { recordOf } from '../support/recorded.js';

const { jest } = import.meta;

const MIB = 1_048_576;
/** Body of which two fit in the half of the memory that one owner gets. */
const LARGE = largeBody(2 * MIB, false);
const LARGE_STREAM = largeBody(2 * MIB, true);
const ANSWER = '{"object":"chat.completion"}';

let app: TestApp;
let upstream: FakeUpstream;
/** Requests that the upstream has received completely and not responded to. */
let waiting: { body: Buffer; response: ServerResponse }[];
let owner: TestOwner;
let key: string;

function largeBody(bytes: number, stream: boolean): Buffer {
  const content = Array.from({ length: bytes / 8 }, (_, i) => String(i % 10_000_000).padStart(8, '0')).join(
    '',
  );
  return Buffer.from(JSON.stringify({ model: 'm', stream, messages: [{ role: 'user', content }] }));
}

beforeEach(async () => {
  waiting = [];
  upstream = await startUpstream((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => waiting.push({ body: Buffer.concat(chunks), response }));
  });
  app = await startApp({ UPSTREAM_PRIVATE_NETWORKS: 'allow', PROXY_BODY_MEMORY: String(10 * MIB) });
  ({ owner, key } = await ownerWith(app, upstream.url));
});
afterEach(async () => {
  jest.restoreAllMocks();
  await app.close();
  await upstream.close();
});

const arrived = (count: number) => eventually(() => expect(waiting).toHaveLength(count));

function respondToNext(): void {
  waiting.shift()!.response.setHeader('Content-Type', 'application/json').end(ANSWER);
}

/** Sends a small request and awaits its response while others wait. */
async function sendSmall(): Promise<void> {
  const already = waiting.length;
  const reply = call(app, key, { method: 'POST', path: '/v1/chat/completions', body: '{"model":"m"}' });
  await arrived(already + 1);
  waiting.pop()!.response.end(ANSWER);
  expect((await reply).status).toBe(200);
}

const sendLarge = (): Promise<Reply> =>
  call(app, key, { method: 'POST', path: '/v1/chat/completions', body: LARGE });

const requestHeaders = (apiKey: string, framing: string, more = '') =>
  `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${apiKey}\r\n${more}${framing}\r\n\r\n`;

describe('large bodies', () => {
  it('wait for memory and do not delay small bodies', async () => {
    const replies = Array.from({ length: 6 }, () => sendLarge());
    for (let left = 6; left > 0; left--) {
      await arrived(Math.min(left, 2));
      await sendSmall();
      expect(waiting).toHaveLength(Math.min(left, 2));
      expect(waiting[0]!.body.equals(LARGE)).toBe(true);
      respondToNext();
    }
    for (const { status, text } of await Promise.all(replies)) expect([status, text]).toEqual([200, ANSWER]);
  });

  it('free their memory when the response begins', async () => {
    const streams = [];
    for (let i = 0; i < 6; i++) {
      const opening = open(app, key, { method: 'POST', path: '/v1/chat/completions', body: LARGE_STREAM });
      await arrived(1);
      const { response } = waiting.shift()!;
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write('data: {"choices":[]}\n\n');
      streams.push({ received: await opening, response });
    }
    for (const { received, response } of streams) {
      response.end('data: [DONE]\n\n');
      received.resume();
      await once(received, 'end');
    }
  });

  it('reach the next upstream unchanged', async () => {
    const failing = await startUpstream((request, response) => {
      request.resume().on('end', () => response.writeHead(500).end());
    });
    const { owner, key: other } = await ownerWith(app, failing.url);
    await fillPool(owner, upstream.url);
    const replies = inParallel(6, () =>
      call(app, other, { method: 'POST', path: '/v1/completions', body: LARGE }),
    );
    for (let i = 0; i < 6; i++) {
      await eventually(() => expect(waiting).not.toHaveLength(0));
      expect(waiting[0]!.body.equals(LARGE)).toBe(true);
      respondToNext();
    }
    for (const { status } of await replies) expect(status).toBe(200);
    await failing.close();
  });

  it('free their memory when their clients disconnect, while waiting or arriving', async () => {
    const beginning =
      requestHeaders(key, `Content-Length: ${LARGE.length}`) + LARGE.toString('latin1', 0, MIB);
    const clients = await Promise.all(Array.from({ length: 4 }, () => connectRaw(app, beginning)));
    await sendSmall(); // the server has read their bytes by then
    const reply = sendLarge();
    for (const { socket } of clients) socket.destroy();
    await arrived(1);
    respondToNext();
    expect((await reply).status).toBe(200);
  });
});

describe('bodies of several owners', () => {
  it('do not wait for those of an owner with a silent upstream', async () => {
    const silent = Array.from({ length: 10 }, () => sendLarge());
    await arrived(2);
    for (let i = 0; i < 3; i++) {
      const { key: other } = await ownerWith(app, upstream.url);
      const reply = call(app, other, { method: 'POST', path: '/v1/chat/completions', body: LARGE });
      await arrived(3);
      waiting.pop()!.response.end(ANSWER);
      expect((await reply).status).toBe(200);
    }
    for (let left = silent.length; left > 0; left--) {
      await arrived(Math.min(left, 2));
      respondToNext();
    }
    for (const { status } of await Promise.all(silent)) expect(status).toBe(200);
  });

  it('do not wait for bodies that are announced and not sent', async () => {
    const announced = `Content-Length: ${30 * MIB}`;
    const beginning = 'x'.repeat(MIB + 100_000);
    const { key: other } = await ownerWith(app, upstream.url);
    const stalled = await Promise.all(
      [key, other].map((apiKey) => connectRaw(app, requestHeaders(apiKey, announced) + beginning)),
    );
    await sendSmall();
    const { key: third } = await ownerWith(app, upstream.url);
    for (const apiKey of [third, other, key]) {
      const reply = call(app, apiKey, { method: 'POST', path: '/v1/chat/completions', body: LARGE });
      await arrived(1);
      respondToNext();
      expect((await reply).status).toBe(200);
    }
    for (const { socket } of stalled) socket.destroy();
  });

  it('larger than the whole memory arrive one after the other', async () => {
    const huge = largeBody(12 * MIB, false);
    const keys = [key, key, (await ownerWith(app, upstream.url)).key];
    const replies = keys.map((apiKey) =>
      call(app, apiKey, { method: 'POST', path: '/v1/chat/completions', body: huge }),
    );
    for (const _ of keys) {
      await arrived(1);
      expect(waiting[0]!.body.equals(huge)).toBe(true);
      respondToNext();
    }
    for (const { status } of await Promise.all(replies)) expect(status).toBe(200);
  });
});

describe('a body that arrives slowly', () => {
  it.each([
    ['with a length', `Content-Length: ${2 * MIB}`, 'x'.repeat(MIB + 1_000)],
    ['in chunks', 'Transfer-Encoding: chunked', `${(2 * MIB).toString(16)}\r\n${'x'.repeat(MIB + 100_000)}`],
  ])(
    'is 408 after its first MiB, is recorded and frees its memory (%s)',
    async (_framing, framing, beginning) => {
      const id = `slow-${framing.length}`;
      const client = await connectRaw(
        app,
        requestHeaders(key, framing, `X-Request-Id: ${id}\r\n`) + beginning,
      );
      client.repeat('x', 100);
      const text = await client.closed;
      expect(statusesIn(text)).toEqual([408]);
      expect(text).toContain('"code":"request_timeout"');
      expect(await recordOf(owner, id)).toMatchObject({ status: 408, outcome: 'client_error' });
      const body = largeBody(9 * MIB, false); // has room only if it is the only one of its owner
      const reply = call(app, key, { method: 'POST', path: '/v1/completions', body });
      await arrived(1);
      respondToNext();
      expect((await reply).status).toBe(200);
    },
  );
});

describe('a key that becomes invalid while the body of its request arrives', () => {
  /** Sends the first part of a body, invalidates the key, and sends the rest. */
  async function invalidateWithin(
    framing: string,
    parts: [string, string],
    invalidate: () => Promise<unknown>,
  ) {
    const id = `ended-${Math.random().toString(36).slice(2)}`;
    await sendSmall(); // loads the key into the cache
    const client = await connectRaw(app, requestHeaders(key, framing, `X-Request-Id: ${id}\r\n`) + parts[0]);
    await sendSmall();
    await invalidate();
    client.socket.write(parts[1]);
    const text = await eventually(() => {
      expect(statusesIn(client.text())).not.toEqual([]);
      return client.text();
    });
    client.socket.destroy();
    jest.restoreAllMocks(); // sessions expire, too
    return { text, record: await recordOf(owner, id) };
  }

  async function revoke(): Promise<void> {
    const { body } = await owner.admin.get('/me/keys').expect(200);
    await owner.admin.delete(`/me/keys/${body.keys[0].id}`).expect(204);
  }

  it.each([
    ['a length', 'Content-Length: 13', ['{"model":', '"m"}'] as [string, string]],
    [
      'chunks',
      'Transfer-Encoding: chunked',
      ['9\r\n{"model":\r\n', '4\r\n"m"}\r\n0\r\n\r\n'] as [string, string],
    ],
  ])('is 401 for a body with %s, and recorded', async (_framing, framing, parts) => {
    const { text, record } = await invalidateWithin(framing, parts, revoke);
    expect(statusesIn(text)).toEqual([401]);
    expect(text).toContain('"code":"invalid_proxy_key"');
    expect(record).toMatchObject({ status: 401, outcome: 'client_error', attempts: [] });
    expect(waiting).toEqual([]);
  });

  it('is 401 if it has expired', async () => {
    const inAnHour = Date.now() + 3_600_000;
    const expires_at = new Date(inAnHour).toISOString();
    const { body } = await owner.admin.post('/me/keys').send({ expires_at }).expect(201);
    key = body.api_key as string;
    const expire = () => Promise.resolve(jest.spyOn(Date, 'now').mockReturnValue(inAnHour));
    const { text, record } = await invalidateWithin('Content-Length: 13', ['{"model":', '"m"}'], expire);
    expect(statusesIn(text)).toEqual([401]);
    expect(record).toMatchObject({ status: 401, outcome: 'client_error' });
  });

  it('is 401 for a body that waited for memory, and frees the memory', async () => {
    const replies = [sendLarge(), sendLarge()];
    await arrived(2);
    const held = sendLarge();
    await sendSmall();
    await revoke();
    respondToNext();
    expect((await held).status).toBe(401);
    respondToNext();
    for (const { status } of await Promise.all(replies)) expect(status).toBe(200);
  });

  it('stays valid when another key is revoked', async () => {
    const { body: other } = await owner.admin.post('/me/keys').send({}).expect(201);
    const headers = requestHeaders(key, 'Content-Length: 13');
    const client = await connectRaw(app, `${headers}{"model":`);
    await owner.admin.delete(`/me/keys/${other.id}`).expect(204);
    client.socket.write('"m"}');
    await arrived(1);
    respondToNext();
    await eventually(() => expect(statusesIn(client.text())).toEqual([200]));
    client.socket.destroy();
  });
});
