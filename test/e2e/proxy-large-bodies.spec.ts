import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { startUpstream } from '../support/fake-upstream.js';
import type { FakeUpstream } from '../support/fake-upstream.js';
import { inParallel } from '../support/parallel.js';
import { call, fillPool, open, ownerWith } from '../support/proxy-client.js';
import type { Reply } from '../support/proxy-client.js';
import { connectRaw } from '../support/raw-client.js';

const MIB = 1_048_576;
/** Two of them have room at a time. */
const LARGE = largeBody(2 * MIB, false);
const LARGE_STREAM = largeBody(2 * MIB, true);
const ANSWER = '{"object":"chat.completion"}';

let app: TestApp;
let upstream: FakeUpstream;
/** Those that have come to the upstream with all of their bodies, and wait for an answer. */
let waiting: { body: Buffer; response: ServerResponse }[];
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
  app = await startApp({ UPSTREAM_PRIVATE_NETWORKS: 'allow', PROXY_BODY_MEMORY: String(5 * MIB) });
  ({ key } = await ownerWith(app, upstream.url));
});
afterEach(async () => {
  await app.close();
  await upstream.close();
});

const arrived = (count: number) => eventually(() => expect(waiting).toHaveLength(count));

function answerNext(): void {
  waiting.shift()!.response.setHeader('Content-Type', 'application/json').end(ANSWER);
}

/** Has been through the proxy, while others wait. */
async function smallOnePasses(): Promise<void> {
  const already = waiting.length;
  const reply = call(app, key, { method: 'POST', path: '/v1/chat/completions', body: '{"model":"m"}' });
  await arrived(already + 1);
  waiting.pop()!.response.end(ANSWER);
  expect((await reply).status).toBe(200);
}

const sendLarge = (): Promise<Reply> =>
  call(app, key, { method: 'POST', path: '/v1/chat/completions', body: LARGE });

it('are kept for as many requests as there is memory for, the others wait, and small ones do not', async () => {
  const replies = Array.from({ length: 6 }, () => sendLarge());
  for (let left = 6; left > 0; left--) {
    await arrived(Math.min(left, 2));
    await smallOnePasses();
    expect(waiting).toHaveLength(Math.min(left, 2));
    expect(waiting[0]!.body.equals(LARGE)).toBe(true);
    answerNext();
  }
  for (const { status, text } of await Promise.all(replies)) expect([status, text]).toEqual([200, ANSWER]);
});

it('are not kept any longer than until the answer begins', async () => {
  const streams = [];
  for (let i = 0; i < 6; i++) {
    const opening = open(app, key, { method: 'POST', path: '/v1/chat/completions', body: LARGE_STREAM });
    await arrived(1);
    const { response } = waiting.shift()!;
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.write('data: {"choices":[]}\n\n');
    streams.push({ answer: await opening, response });
  }
  for (const { answer, response } of streams) {
    response.end('data: [DONE]\n\n');
    answer.resume();
    await once(answer, 'end');
  }
});

it('go to the next upstream as they came', async () => {
  const failing = await startUpstream((request, response) => {
    request.resume().on('end', () => response.writeHead(500).end());
  });
  const { owner, key: other } = await ownerWith(app, failing.url);
  await fillPool(owner, upstream.url);
  const replies = inParallel(6, () =>
    call(app, other, { method: 'POST', path: '/v1/completions', body: LARGE }),
  );
  for (let answered = 0; answered < 6; answered++) {
    await eventually(() => expect(waiting).not.toHaveLength(0));
    expect(waiting[0]!.body.equals(LARGE)).toBe(true);
    answerNext();
  }
  for (const { status } of await replies) expect(status).toBe(200);
  await failing.close();
});

it('make room when their clients leave, whether they wait or not', async () => {
  const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Length: ${LARGE.length}\r\n\r\n`;
  const clients = await Promise.all(
    Array.from({ length: 4 }, () => connectRaw(app, head + LARGE.toString('latin1', 0, MIB))),
  );
  await smallOnePasses(); // behind what they have sent
  const reply = sendLarge();
  for (const { socket } of clients) socket.destroy();
  await arrived(1);
  answerNext();
  expect((await reply).status).toBe(200);
});
