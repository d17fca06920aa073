import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { sessionFor } from '../support/sessions.js';

const ASSETS = join(import.meta.dirname, '../../dashboard/dist/assets');
const SUPABASE_AUTH_URL = 'https://auth.example.com/auth/v1';
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

let app: TestApp;
beforeAll(async () => {
  app = await startApp({
    SUPABASE_AUTH_URL,
    SUPABASE_ANON_KEY: 'public',
    PUBLIC_URL: 'https://kb.example.com',
  });
});
afterAll(() => app.close());

const open = (path: string, accept = BROWSER) => app.anonymous.get(path).set('Accept', accept);

describe('the application', () => {
  it.each(['/', '/sign-in', '/o/7/projects/3?q=x', '/join?token=abc', '/a.b/c.d'])(
    'is at %s',
    async (path) => {
      const { text, headers } = await open(path)
        .expect(200)
        .expect('Content-Type', /^text\/html/);
      expect(text).toContain('<div id="root">');
      expect(headers['cache-control']).toBe('no-cache');
      expect(headers.vary).toMatch(/Accept\b/);
      await open(path).set('If-None-Match', headers.etag!).expect(304);
      await app.anonymous.head(path).set('Accept', BROWSER).expect(200);
    },
  );

  it('has a content security policy without inline scripts', async () => {
    const { text, headers } = await open('/').expect(200);
    const policy = headers['content-security-policy'];
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("connect-src 'self' https://auth.example.com;");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(text).not.toMatch(/<script(?![^>]*\bsrc=)/);
  });

  it.each([
    '/me',
    '/me/x',
    '/v1',
    '/auth',
    '/auth/x',
    '/oauth/x',
    '/docs/x',
    '/assets/x',
    '/dashboard',
    '/ME/x',
  ])('is not at %s', async (path) => {
    const { headers, status } = await open(path);
    expect(headers['content-type']).toMatch(/json/);
    expect([401, 404]).toContain(status);
  });

  it.each(['*/*', 'application/json', 'text/html;q=0, */*', 'text/*'])(
    'is not for clients that accept %s',
    (accept) => open('/unknown', accept).expect(404, { error: { message: 'not found' } }),
  );

  it('leaves other routes and methods as they are', async () => {
    await open('/healthz').expect(200).expect('Content-Type', /json/);
    await open('/docs').expect(200, /mintkeep API/);
    await app.anonymous.post('/sign-in').set('Accept', BROWSER).expect(404);
    await app.anonymous.get('/').expect(302).expect('Location', '/docs');
  });
});

describe('assets', () => {
  const names = readdirSync(ASSETS);
  const script = names.find((name) => name.endsWith('.js.br'))!.slice(0, -'.br'.length);
  const small = names.find((name) => name.endsWith('.js') && !names.includes(`${name}.br`))!;
  const encodings = { br: 'br', gzip: 'gzip', 'gzip, br': 'br', 'br;q=0, gzip': 'gzip' };

  it.each(Object.entries(encodings))(
    'are compressed for clients that accept %s',
    async (accepted, encoding) => {
      const { headers } = await app.anonymous
        .get(`/assets/${script}`)
        .set('Accept-Encoding', accepted)
        .expect(200);
      expect(headers['content-encoding']).toBe(encoding);
      expect(headers['content-type']).toMatch(/^text\/javascript/);
      expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
      expect(headers.vary).toContain('Accept-Encoding');
    },
  );

  it('are plain otherwise', async () => {
    for (const name of [script, small]) {
      const { headers, text } = await app.anonymous.get(`/assets/${name}`).set('Accept-Encoding', 'identity');
      expect(headers).not.toHaveProperty('content-encoding');
      expect(text.length).toBeGreaterThan(0);
    }
  });

  it.each(['/assets/x.js', '/assets/..%2findex.html', '/assets/%2e%2e%2f.sources', '/assets/', '/assets'])(
    'do not exist at %s',
    (path) => open(path).expect(404),
  );

  it.each(['bytes=10-5', 'bytes=abc', 'bytes=999999999-', 'x'])('bear the range %s', async (range) => {
    const { status } = await app.anonymous
      .get(`/assets/${script}`)
      .set({ Range: range, 'Accept-Encoding': 'identity' });
    expect([200, 206, 416]).toContain(status);
  });
});

describe('GET /dashboard/config.json', () => {
  const sessions = { SESSION_JWT_SECRET: '', HOST: '127.0.0.1' };
  const page = 'https://id.example.com/login?client=mintkeep';
  it.each([
    [{}, { kind: 'none' }],
    [sessions, { kind: 'development' }],
    [{ SUPABASE_AUTH_URL }, { kind: 'supabase', url: SUPABASE_AUTH_URL }],
    [
      { ...sessions, SUPABASE_AUTH_URL },
      { kind: 'supabase', url: SUPABASE_AUTH_URL },
    ],
    [
      { SUPABASE_AUTH_URL, SIGN_IN_URL: page },
      { kind: 'redirect', url: page },
    ],
    [{ ...sessions, SIGN_IN_URL: 'http://localhost:3000/sign-in' }, { kind: 'development' }],
  ])('describes the sign-in with %j', async (variables, sign_in) => {
    const other = await startApp(variables, app);
    const { body } = await other.anonymous.get('/dashboard/config.json').expect(200);
    await other.close();
    expect(body).toEqual({ version: expect.any(String), public_url: 'http://localhost:3000', sign_in });
  });

  it('has the public key of Supabase Auth', async () => {
    const { body } = await app.anonymous.get('/dashboard/config.json').expect(200);
    expect(body.sign_in).toEqual({ kind: 'supabase', url: SUPABASE_AUTH_URL, anon_key: 'public' });
    expect(body.public_url).toBe('https://kb.example.com');
  });
});

describe('the session in a cookie', () => {
  const OWN = { 'Sec-Fetch-Site': 'same-origin' };

  it('is set for requests of the own origin, and opens the approval page', async () => {
    const exp = Math.floor(Date.now() / 1_000) + 1_800;
    const token = await sessionFor('ada', { exp });
    const request = app.anonymous.post('/auth/session').set('Authorization', `Bearer ${token}`);
    const { headers } = await request.set('Origin', 'https://kb.example.com').expect(204);
    const [cookie] = headers['set-cookie'] as unknown as string[];
    expect(cookie!.split('; ')).toEqual([
      `mintkeep_session=${token}`,
      'Path=/auth/device',
      `Expires=${new Date(exp * 1_000).toUTCString()}`,
      ...['HttpOnly', 'Secure', 'SameSite=Lax'],
    ]);
    await app.anonymous.get('/auth/device').set('Cookie', `mintkeep_session=${token}`).expect(200);
  });

  it('is not Secure over plain HTTP, and carries the name of the settings', async () => {
    const other = await startApp({ SESSION_COOKIE_NAME: 'mine' }, app);
    const authorization = `Bearer ${await sessionFor('ada')}`;
    const request = other.anonymous.post('/auth/session').set('Authorization', authorization);
    const { headers } = await request.set(OWN).expect(204);
    await other.close();
    expect(headers['set-cookie']![0]).toMatch(/^mine=/);
    expect(headers['set-cookie']![0]).not.toContain('Secure');
  });

  it('is removed', async () => {
    const { headers } = await app.anonymous.delete('/auth/session').set(OWN).expect(204);
    expect(headers['set-cookie']![0]).toMatch(
      /^mintkeep_session=; Path=\/auth\/device; Expires=Thu, 01 Jan 1970/,
    );
  });

  it.each([
    [{}],
    [{ Origin: 'https://evil.example' }],
    [{ Origin: 'null' }],
    [{ 'Sec-Fetch-Site': 'same-site' }],
    [{ 'Sec-Fetch-Site': 'cross-site', Origin: 'https://kb.example.com' }],
    [{ 'Sec-Fetch-Site': 'none' }],
  ])('is rejected with %j, whatever the session', async (headers: Record<string, string>) => {
    const valid = `Bearer ${await sessionFor('ada')}`;
    for (const authorization of [valid, 'Bearer x', '']) {
      for (const method of ['post', 'delete'] as const) {
        const request = app.anonymous[method]('/auth/session')
          .set(headers)
          .set('Authorization', authorization);
        const { body, headers: sent } = await request.expect(403);
        expect(body.error.type).toBe('csrf_failed');
        expect(sent).not.toHaveProperty('set-cookie');
      }
    }
  });

  it.each(['', 'Bearer x', 'Basic eDp4'])('needs a valid session, not "%s"', async (authorization) => {
    const request = app.anonymous.post('/auth/session').set(OWN).set('Authorization', authorization);
    const { headers } = await request.expect(401);
    expect(headers).not.toHaveProperty('set-cookie');
  });

  it('is not set for an expired session', async () => {
    const token = await sessionFor('ada', { exp: Math.floor(Date.now() / 1_000) - 60 });
    await app.anonymous.post('/auth/session').set(OWN).set('Authorization', `Bearer ${token}`).expect(401);
  });
});

it('the approval page leads to the sign-in of the dashboard', async () => {
  const { headers } = await open('/auth/device?user_code=BCDF-GHJK').expect(303);
  const returnTo = encodeURIComponent('https://kb.example.com/auth/device?user_code=BCDF-GHJK');
  expect(headers.location).toBe(`https://kb.example.com/sign-in?return_to=${returnTo}`);
});

it('DASHBOARD=off leaves the API alone', async () => {
  const other = await startApp({ DASHBOARD: 'off', SESSION_JWT_SECRET: '', HOST: '127.0.0.1' }, app);
  const { anonymous } = other;
  await anonymous.get('/').set('Accept', BROWSER).expect(302).expect('Location', '/docs');
  await anonymous.get('/sign-in').set('Accept', BROWSER).expect(404);
  await anonymous.get('/dashboard/config.json').expect(404);
  await anonymous.post('/auth/session').set('Sec-Fetch-Site', 'same-origin').expect(404);
  const { headers } = await anonymous.get('/auth/device').expect(303);
  expect(headers.location).toMatch(/^http:\/\/localhost:3000\/dev\/sign-in\?/);
  await other.close();
});
