import { createSecretKey } from 'node:crypto';
import { Test } from '@nestjs/testing';
import { APP_FILTER } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { jwtVerify } from 'jose';
import supertest from 'supertest';
import { ErrorFilter } from '../common/api/error.filter.js';
import { ConfigModule } from '../config/config.module.js';
import { parseSettings } from '../config/parse-settings.js';
import type { Settings } from '../config/settings.js';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DevSignInModule } from './dev-sign-in.module.js';

let app: NestExpressApplication;
let settings: Settings;
let dataDir: string;

function settingsWith(publicUrl: string): Settings {
  const variables = { DASHBOARD_URL: 'https://app.example.com', PUBLIC_URL: publicUrl };
  return parseSettings({ DATA_DIR: dataDir, ...variables });
}

async function start(given: Settings): Promise<NestExpressApplication> {
  const module = await Test.createTestingModule({
    imports: [ConfigModule.with(given), DevSignInModule],
    providers: [{ provide: APP_FILTER, useClass: ErrorFilter }],
  }).compile();
  return module.createNestApplication<NestExpressApplication>({ bodyParser: false }).init();
}

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'mintkeep-sign-in-'));
  settings = settingsWith('http://localhost:3000');
  app = await start(settings);
});
afterAll(async () => {
  await app.close();
  rmSync(dataDir, { recursive: true });
});

const browser = () => supertest(app.getHttpServer());
const post = (fields: Record<string, string>) => browser().post('/dev/sign-in').type('form').send(fields);

async function claimsOf(token: string) {
  return (await jwtVerify(token, createSecretKey(settings.session.hs256Secret!))).payload;
}

describe('the page /dev/sign-in', () => {
  it('requests an e-mail address, under a strict content security policy', async () => {
    const page = browser().get('/dev/sign-in').set('If-None-Match', '*'); // never answered with 304
    const { text, headers } = await page.expect(200).expect('Content-Type', /html/);
    expect(text).toContain('<form method="post" action="/dev/sign-in">');
    expect(text).not.toMatch(/<script|src=|https?:\/\//);
    expect(headers['cache-control']).toBe('no-store');
    expect(headers).not.toHaveProperty('etag');
    expect(headers['content-security-policy']).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
  });

  it('uses the path of PUBLIC_URL', async () => {
    const below = await start(settingsWith('http://localhost:8080/mint/'));
    const page = await supertest(below.getHttpServer()).get('/dev/sign-in').expect(200);
    expect(page.text).toContain('<form method="post" action="/mint/dev/sign-in">');
    const signedIn = supertest(below.getHttpServer()).post('/dev/sign-in').type('form');
    const { text } = await signedIn.send({ email: 'ada@example.com' }).expect(200);
    expect([...text.matchAll(/href="([^"]*)"/g)].map(([, address]) => address)).toEqual([
      '/mint/docs',
      '/mint/dev/sign-in',
    ]);
    await below.close();
  });

  it('escapes return_to', async () => {
    const { text } = await browser().get('/dev/sign-in').query({ return_to: '"><script>alert(1)</script>' });
    expect(text).not.toContain('<script>');
    expect(text).toContain('&quot;&gt;&lt;script&gt;');
  });

  it('allows forms to redirect to the dashboard', async () => {
    const { headers } = await browser().get('/dev/sign-in').expect(200);
    expect(headers['content-security-policy']).toContain(
      "form-action 'self' https://app.example.com http://localhost:3000;",
    );
  });

  it('is shown after a link on the dashboard', () =>
    browser().get('/dev/sign-in').set('Sec-Fetch-Site', 'cross-site').expect(200));

  it('sets the session cookie and shows the token with a curl line', async () => {
    const { text, headers } = await post({ email: ' Ada@Example.com ' }).expect(200);
    const [cookie] = headers['set-cookie'] as unknown as string[];
    expect(cookie).toMatch(
      /^mintkeep_session=[^;]+; Max-Age=2592000; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Lax$/,
    );
    const token = /^mintkeep_session=([^;]+)/.exec(cookie!)![1]!;
    expect(text).toContain(
      `<pre>curl -H "Authorization: Bearer ${token}" http://localhost:3000/me/projects</pre>`,
    );
    expect(await claimsOf(token)).toMatchObject({
      email: 'Ada@Example.com',
      sub: expect.stringMatching(/^dev_[0-9a-f]{24}$/),
    });
  });

  it.each(['', 'ada', '@example.com', 'a@b@example.com', 'a b@example.com', '<script>@x', 'a\0@example.com'])(
    'requests another address after %j',
    async (email) => {
      const { text, headers } = await post({ email }).expect(400);
      expect(text).toContain('not an e-mail address');
      expect(text).not.toContain('<script>');
      expect(headers['set-cookie']).toBeUndefined();
    },
  );

  it.each([
    ['/auth/device?user_code=ABCD-EFGH', '/auth/device?user_code=ABCD-EFGH'],
    ['http://localhost:3000/x', 'http://localhost:3000/x'],
    ['https://app.example.com/join?token=x', 'https://app.example.com/join?token=x'],
  ])('redirects to %s', async (returnTo, location) => {
    const { headers } = await post({ email: 'ada@example.com', return_to: returnTo })
      .expect(303)
      .expect('Location', location)
      .expect('Cache-Control', 'no-store');
    expect(headers['set-cookie']).toHaveLength(1);
  });

  it.each(['', '//evil.example', 'https://evil.example'])('does not redirect to %j', (returnTo) =>
    post({ email: 'ada@example.com', return_to: returnTo }).expect(200),
  );

  it.each([16_385, 1_048_576])('does not read a body of %d bytes', (bytes) =>
    post({ email: 'ada@example.com', filler: 'x'.repeat(bytes) }).expect(400),
  );
});

describe('JSON requests to /dev/sign-in', () => {
  it('return a token for an address, always of the same user', async () => {
    const { body, headers } = await browser()
      .post('/dev/sign-in')
      .send({ email: 'ada@example.com' })
      .expect(200);
    const again = await browser().post('/dev/sign-in').send({ email: 'ADA@example.com' }).expect(200);
    expect(headers['cache-control']).toBe('no-store');
    expect((await claimsOf(again.body.token)).sub).toBe((await claimsOf(body.token)).sub);
  });

  it.each([
    [{}],
    [{ email: 7 }],
    [{ email: '' }],
    [{ email: 'x' }],
    [{ email: `ada${' '.repeat(400)}@example.com` }],
  ])('are rejected with %j', async (body) => {
    const response = await browser().post('/dev/sign-in').send(body).expect(400);
    expect(response.body.error.type).toBe('invalid_email');
  });

  it('need no Content-Type', async () => {
    const { body } = await browser()
      .post('/dev/sign-in')
      .type('form')
      .send('{"email": "ada@example.com"}')
      .expect(200);
    expect((await claimsOf(body.token)).email).toBe('ada@example.com');
  });

  it('are rejected if the body is not JSON', async () => {
    const { body } = await browser()
      .post('/dev/sign-in')
      .set('Content-Type', 'application/json')
      .send('{')
      .expect(400);
    expect(body.error.message).toMatch(/^invalid JSON/);
  });
});

describe('requests from other sites and machines', () => {
  it.each([
    ['another site', { 'Sec-Fetch-Site': 'cross-site' }],
    ['a sibling site', { 'Sec-Fetch-Site': 'same-site' }],
    ['another origin', { Origin: 'https://evil.example' }],
    ['an opaque origin', { Origin: 'null' }],
  ])('are rejected: %s', async (_what, headers: Record<string, string>) => {
    const { body } = await post({ email: 'ada@example.com' }).set(headers).expect(403);
    expect(body).toEqual({
      error: { message: 'the development sign-in accepts requests from this machine only' },
    });
    await browser().post('/dev/sign-in').set(headers).send({ email: 'ada@example.com' }).expect(403);
  });

  it('are rejected under a host name that is no loopback name, even that of PUBLIC_URL', async () => {
    const exposed = await start(settingsWith('https://kb.example.com'));
    const request = supertest(exposed.getHttpServer()).post('/dev/sign-in').set('Host', 'kb.example.com');
    await request.send({ email: 'ada@example.com' }).expect(403);
    await exposed.close();
  });

  it.each(['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', 'localhost@evil.example'])(
    'are rejected under the host name %s',
    async (host) => {
      await post({ email: 'ada@example.com' }).set('Host', host).expect(403);
      await browser().get('/dev/sign-in').set('Host', host).expect(403);
    },
  );

  it.each([
    ['Forwarded', 'for=203.0.113.7'],
    ['X-Forwarded-For', '127.0.0.1'],
    ['X-Forwarded-Host', 'localhost'],
    ['X-Forwarded-Proto', 'http'],
    ['X-Forwarded-Anything', ''],
  ])('are rejected if a proxy forwarded them: %s', async (name, value) => {
    await post({ email: 'ada@example.com' }).set(name, value).expect(403);
    await browser().post('/dev/sign-in').set(name, value).send({ email: 'ada@example.com' }).expect(403);
    await browser().get('/dev/sign-in').set(name, value).expect(403);
  });

  it.each([
    ['no headers', {}],
    ['the origin of PUBLIC_URL', { Origin: 'http://localhost:3000', 'Sec-Fetch-Site': 'same-origin' }],
    ['the origin of the Host', { Origin: 'http://127.0.0.1:3000', Host: '127.0.0.1:3000' }],
  ])('are accepted if they are local, with %s', async (_what, headers: Record<string, string>) => {
    await post({ email: 'ada@example.com' }).set(headers).expect(200);
  });

  it('are accepted under every loopback name', async () => {
    for (const host of ['localhost:3000', '127.0.0.1', '[::1]:80'])
      await browser().get('/dev/sign-in').set('Host', host).expect(200);
  });
});
