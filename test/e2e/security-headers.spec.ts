import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';

let app: TestApp;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

/** Sends a GET and returns the response with all raw headers. */
const fetch = (path: string) =>
  new Promise<IncomingMessage>((resolve, reject) => {
    get(`${app.url}${path}`, (response) => {
      response.resume();
      resolve(response);
    }).on('error', reject);
  });

it.each(['/me/projects', '/healthz', '/no/such/path', '/openapi.json'])(
  '%s has a policy that forbids everything in a browser',
  async (path) => {
    const { headers } = await fetch(path);
    expect(headers).toMatchObject({
      'content-security-policy': "default-src 'none';frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
    });
    expect(headers).not.toHaveProperty('x-powered-by');
    expect(headers).not.toHaveProperty('strict-transport-security');
  },
);

it('the device page has its own policy', async () => {
  const { headers } = await fetch('/auth/device?user_code=BCDF-GHJK');
  expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-/);
  expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
  expect(headers['referrer-policy']).toBe('same-origin');
});

it('the documentation page allows only scripts of the service', async () => {
  const { headers } = await fetch('/docs');
  expect(headers['content-security-policy']).toMatch(
    /^default-src 'none'; script-src 'self';.*frame-ancestors 'none'/,
  );
  expect(headers['content-security-policy']).not.toContain('unsafe');
});

it.each(['/me/projects', '/auth/device', '/docs', '/v1/models'])('%s repeats no header', async (path) => {
  const { rawHeaders } = await fetch(path);
  const names = rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase());
  expect(names).toEqual([...new Set(names)]);
});

it('sends Strict-Transport-Security if the public URL begins with https:', async () => {
  const secure = await startApp({ PUBLIC_URL: 'https://keys.example.com' }, { database: app.database });
  const { headers } = await secure.anonymous.get('/healthz');
  expect(headers['strict-transport-security']).toMatch(/^max-age=31536000/);
  await secure.close();
});
