import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { call, ownerWith } from '../support/proxy-client.js';
import { connectRaw } from '../support/raw-client.js';
import { respondWith, startRawUpstream } from '../support/raw-upstream.js';

const DASHBOARD = 'https://app.example.com';
const SDK_HEADERS = 'authorization,x-api-key,anthropic-version,content-type,x-stainless-lang';

let app: TestApp;

beforeAll(async () => {
  app = await startApp({
    CORS_ORIGINS: `${DASHBOARD}, http://localhost:5173`,
    UPSTREAM_PRIVATE_NETWORKS: 'allow',
  });
});
afterAll(() => app.close());

const preflight = (path: string, origin: string) =>
  app.anonymous
    .options(path)
    .set('Origin', origin)
    .set('Access-Control-Request-Method', 'POST')
    .set('Access-Control-Request-Headers', SDK_HEADERS);

describe.each(['/me/projects', '/v1/chat/completions', '/auth/device/token', '/oauth/token'])(
  '%s',
  (path) => {
    it.each([DASHBOARD, 'http://localhost:5173'])('allows requests of scripts from %s', async (origin) => {
      const { headers } = await preflight(path, origin).expect(204);
      expect(headers).toMatchObject({
        'access-control-allow-origin': origin,
        'access-control-allow-headers': SDK_HEADERS,
        'access-control-allow-methods': expect.stringContaining('DELETE'),
        'access-control-max-age': '600',
        vary: 'Origin',
        'x-request-id': expect.any(String),
      });
      expect(headers).not.toHaveProperty('access-control-allow-credentials');
    });

    it.each([
      'https://evil.example.com',
      'https://app.example.com.evil.example',
      'http://app.example.com',
      'null',
    ])('sends no CORS headers to scripts from %s', async (origin) => {
      for (const request of [preflight(path, origin), app.anonymous.post(path).set('Origin', origin)]) {
        const { headers, status } = await request;
        expect(status).toBeGreaterThanOrEqual(400);
        expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
        expect(headers.vary).toBe('Origin');
      }
    });

    it('lets scripts read error responses', async () => {
      const { headers } = await app.anonymous.post(path).set('Origin', DASHBOARD);
      expect(headers['access-control-allow-origin']).toBe(DASHBOARD);
      expect(headers['access-control-expose-headers']).toContain('Retry-After');
    });
  },
);

it.each([
  ['with a Content-Length', 'Content-Length: 2\r\n\r\n{}'],
  ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n'],
])('merges Vary with that of the upstream for a request %s', async (_, rest) => {
  const upstream = await startRawUpstream(
    respondWith('{}', { headers: 'Vary: Accept-Encoding\r\nVary: Accept\r\n' }),
  );
  const { key } = await ownerWith(app, upstream.url);
  const headers = `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nOrigin: ${DASHBOARD}`;
  const client = await connectRaw(app, `${headers}\r\n${rest}`);
  await eventually(() => expect(client.text()).toContain('\r\n\r\n{}'));
  const text = client.text();
  const varies = [...text.matchAll(/^vary: (.+)\r$/gim)].flatMap(([, value]) => value!.split(', '));
  expect(varies.sort().join()).toBe('Accept,Accept-Encoding,Api-Key,Authorization,Origin,X-Api-Key');
  expect(text.match(/^access-control-allow-origin: .+$/gim)).toHaveLength(1);
  client.socket.destroy();
  await upstream.close();
});

it.each(['keep-alive', 'close'])(
  'merges Vary with that of the list of models for Connection: %s',
  async (how) => {
    const upstream = await startRawUpstream(respondWith('{"data":[]}'));
    const { key } = await ownerWith(app, upstream.url);
    const { status, headers } = await call(app, key, {
      path: '/v1/models',
      headers: { origin: DASHBOARD, connection: how },
    });
    expect([status, headers.vary]).toEqual([200, 'Origin, Authorization, X-Api-Key, Api-Key']);
    await upstream.close();
  },
);

it('exposes ETags, file names and request ids to a dashboard', async () => {
  const anna = await app.as('anna');
  const { headers } = await anna.get('/me/projects').set('Origin', DASHBOARD).expect(200);
  expect(headers['access-control-allow-origin']).toBe(DASHBOARD);
  for (const name of ['Content-Disposition', 'ETag', 'Link', 'Retry-After', 'X-Request-Id']) {
    expect(headers['access-control-expose-headers']?.split(', ')).toContain(name);
  }
});

it.each(['/auth/device', '/auth/device/approve', '/docs', '/metrics', '/mexico'])(
  'allows no origin for %s',
  async (path) => {
    const { headers, status } = await preflight(path, DASHBOARD);
    expect(status).not.toBe(204);
    expect(headers).not.toHaveProperty('access-control-allow-origin');
  },
);

it('ignores requested headers that are not header names', async () => {
  const { headers } = await preflight('/me/projects', DASHBOARD)
    .set('Access-Control-Request-Headers', 'a;b')
    .expect(204);
  expect(headers).not.toHaveProperty('access-control-allow-headers');
});

it('allows no origin if CORS_ORIGINS is empty', async () => {
  const closed = await startApp({}, { database: app.database });
  const { headers } = await closed.anonymous.get('/me/projects').set('Origin', DASHBOARD).expect(401);
  expect(headers).not.toHaveProperty('access-control-allow-origin');
  expect(headers).not.toHaveProperty('vary');
  await closed.close();
});
