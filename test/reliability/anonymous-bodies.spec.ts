import { setTimeout as pause } from 'node:timers/promises';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { inParallel, tally } from '../support/parallel.js';
import { connectRaw, statusesIn } from '../support/raw-client.js';
import { sessionFor } from '../support/sessions.js';

const LIMIT_BYTES = 16_384;
const TIMEOUT_MS = 10_000;
const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = 'application/json';

const DEVICE_ERROR = /\r\n\r\n\{"error":\{"type":"invalid_request","message":"[^"]+"\}\}$/;
const OAUTH_ERROR = /\r\n\r\n\{"error":"invalid_request","error_description":"[^"]+"\}$/;
const PAGE = /Content-Type: text\/html[^]+<\/html>\s*$/;
/** Every route that reads a body without a session, with the form of its errors. */
const ROUTES = [
  ['/auth/device/code', JSON_TYPE, DEVICE_ERROR],
  ['/auth/device/token', JSON_TYPE, DEVICE_ERROR],
  ['/auth/device/approve', FORM, PAGE],
  ['/auth/device/deny', FORM, PAGE],
  ['/oauth/device_authorization', FORM, OAUTH_ERROR],
  ['/oauth/token', FORM, OAUTH_ERROR],
  ['/oauth/revoke', FORM, OAUTH_ERROR],
  ['/oauth/introspect', FORM, OAUTH_ERROR],
] as const;
const FORM_ROUTES = ROUTES.filter(([, type]) => type === FORM);

let app: TestApp;

beforeAll(async () => {
  app = await startApp({ DEVICE_CODES_PER_MINUTE: '1000000' });
});
afterAll(() => app.close());

/** Request line and headers, without the headers that frame the body. */
const headersFor = (path: string, type: string) =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: same-origin\r\nContent-Type: ${type}\r\n`;
const contentLength = (bytes: number) => `Content-Length: ${bytes}\r\n\r\n`;

/** Sends raw text and returns the text of the first response, headers included. */
async function firstResponseTo(text: string): Promise<string> {
  const client = await connectRaw(app, text);
  await eventually(() => expect(client.text()).toMatch(/\r\n\r\n[^]+(<\/html>|\})\s*$/));
  client.socket.destroy();
  return client.text();
}

describe.each(ROUTES)('a body for %s', (path, type, error) => {
  const headers = headersFor(path, type);

  it('is rejected at once if its Content-Length exceeds 16 KiB', async () => {
    const response = await firstResponseTo(headers + contentLength(LIMIT_BYTES + 1));
    expect(statusesIn(response)).toEqual([400]);
    expect(response).toMatch(error);
    expect(response).toContain(`larger than ${LIMIT_BYTES} bytes`.slice(0, error === PAGE ? 11 : undefined));
  });

  it('is rejected at the first byte above 16 KiB if it has chunks', async () => {
    const chunk = `1000\r\n${'x'.repeat(4_096)}\r\n`;
    const response = await firstResponseTo(
      `${headers}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(4)}1\r\nx\r\n`,
    );
    expect(statusesIn(response)).toEqual([400]);
    expect(response).toMatch(error);
  });

  it('is accepted with exactly 16 KiB', async () => {
    const body =
      type === FORM ? `x=${'x'.repeat(LIMIT_BYTES - 2)}` : `{"x":"${'x'.repeat(LIMIT_BYTES - 8)}"}`;
    const response = await firstResponseTo(headers + contentLength(LIMIT_BYTES) + body);
    expect(response).not.toContain('larger than');
  });

  it('is read to its end after a rejection, and the connection serves the next request', async () => {
    const client = await connectRaw(app, headers + contentLength(1_048_576));
    await eventually(() => expect(statusesIn(client.text())).toEqual([400]));
    client.socket.write('x'.repeat(1_048_576));
    client.socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await eventually(() => expect(statusesIn(client.text())).toEqual([400, 200]));
    client.socket.destroy();
  });
});

describe.each(FORM_ROUTES)('a form for %s', (path, type, error) => {
  const send = (body: string) => firstResponseTo(headersFor(path, type) + contentLength(body.length) + body);
  const parameters = (count: number) => Array.from({ length: count }, (_, i) => `p${i}=`).join('&');

  it('is rejected with more than 100 parameters', async () => {
    const response = await send(parameters(101));
    expect(statusesIn(response)).toEqual([400]);
    expect(response).toMatch(error);
    expect(response).toContain('more than 100 parameters');
  });

  it('is accepted with 100 parameters', async () => {
    for (const body of [parameters(100), '&'.repeat(LIMIT_BYTES)])
      expect(await send(body)).not.toContain('more than 100 parameters');
  });
});

it('150 connections with unfinished bodies of 1 MiB are rejected at once', async () => {
  const half = 'x'.repeat(524_288);
  const statuses = await inParallel(150, async (i) => {
    const [path, type] = ROUTES[i % ROUTES.length]!;
    const client = await connectRaw(app, headersFor(path, type) + contentLength(1_048_576) + half);
    await eventually(() => expect(statusesIn(client.text())).toHaveLength(1));
    client.socket.destroy();
    return statusesIn(client.text())[0]!;
  });
  expect(tally(statuses)).toEqual({ 400: 150 });
});

it('an unfinished body is 408 after 10 s on every route, and the connection closes', async () => {
  const requestId = 'chosen-by-the-client';
  const responses = await Promise.all(
    ROUTES.map(async ([path, type]) => {
      const headers = `${headersFor(path, type)}X-Request-Id: ${requestId}\r\n`;
      const client = await connectRaw(app, headers + contentLength(100));
      const beganAt = performance.now();
      client.repeat('x', 500);
      const response = await client.closed;
      return { response, ms: performance.now() - beganAt };
    }),
  );
  for (const { response, ms } of responses) {
    expect(statusesIn(response)).toEqual([408]);
    expect(response).toMatch(/\r\n\r\n\{"error":\{"message":"[^"]+"\}\}$/);
    expect(response).toMatch(/\r\nConnection: close\r\n/i);
    expect(response).toMatch(/\r\nX-Request-Id: [\w-]{20,}\r\n/);
    expect(response).not.toContain(requestId);
    expect(ms).toBeGreaterThan(TIMEOUT_MS - 100);
  }
});

it('a request with a session keeps its larger bounds', async () => {
  const authorization = `Authorization: Bearer ${await sessionFor('ada')}\r\n`;
  const body = `{"name":"Slow","description":"${'x'.repeat(LIMIT_BYTES)}"}`;
  const headers = headersFor('/me/projects', JSON_TYPE) + authorization + contentLength(body.length);
  const client = await connectRaw(app, headers + body.slice(0, -1));
  await pause(TIMEOUT_MS + 500);
  expect(client.text()).toBe('');
  client.socket.write(body.slice(-1));
  await eventually(() => expect(statusesIn(client.text())).toEqual([201]));
  client.socket.destroy();
});

it('a body in more than 16,384 chunks is rejected, and the connection closes', async () => {
  const authorization = `Authorization: Bearer ${await sessionFor('ada')}\r\n`;
  const headers = `${headersFor('/me/projects', JSON_TYPE)}${authorization}Transfer-Encoding: chunked\r\n\r\n`;
  const client = await connectRaw(app, headers);
  client.socket.write('1\r\n \r\n'.repeat(16_384));
  client.socket.write('1\r\n \r\n');
  const response = await client.closed;
  expect(statusesIn(response)).toEqual([400]);
  expect(response).toContain('more than 16384 chunks');
});
