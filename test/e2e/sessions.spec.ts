import { createSecretKey } from 'node:crypto';
import { base64url, SignJWT } from 'jose';
import type { JWTPayload } from 'jose';
import supertest from 'supertest';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { startIdentityProvider } from '../support/identity-provider.js';
import type { IdentityProvider } from '../support/identity-provider.js';
import { inParallel, tally } from '../support/parallel.js';
import { SESSION_SECRET, sessionFor } from '../support/sessions.js';

const { jest } = import.meta;

/** All that fake timers replace, except for the time of day. */
const TIMERS = [
  ...(['hrtime', 'performance', 'nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate'] as const),
  ...(['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] as const),
];

const now = () => Math.floor(Date.now() / 1_000);

/** Signs a token with any claims, algorithm and secret. */
function signed(claims: JWTPayload, { alg = 'HS256', secret = SESSION_SECRET } = {}): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg }).sign(createSecretKey(Buffer.from(secret)));
}

const good = () => ({ sub: 'ada', email: 'ada@example.com', exp: now() + 600 });

describe('sessions signed with SESSION_JWT_SECRET', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startApp({ ADMIN_TOKEN: 'the-admin-token-of-this-test' });
  });
  afterAll(() => app.close());

  const get = (authorization?: string, path = '/me/projects') => {
    const request = supertest(app.url).get(path);
    return authorization === undefined ? request : request.set('Authorization', authorization);
  };

  it.each<[string, () => Promise<string | undefined> | string | undefined]>([
    ['nothing', () => undefined],
    ['an empty header', () => ''],
    ['Basic', () => `Basic ${Buffer.from('ada:secret').toString('base64')}`],
    ['Bearer without a token', () => 'Bearer'],
    ['Bearer with white space', () => 'Bearer   '],
    ['a token without a scheme', async () => signed(good())],
    ['two tokens', async () => `Bearer ${await signed(good())} ${await signed(good())}`],
    ['garbage', () => 'Bearer garbage'],
    ['a truncated token', async () => `Bearer ${(await signed(good())).slice(0, -5)}`],
    ['a token without its signature', async () => `Bearer ${(await signed(good())).replace(/[^.]+$/, '')}`],
    ['a changed payload', async () => `Bearer ${tampered(await signed(good()))}`],
    ['another secret', async () => `Bearer ${await signed(good(), { secret: 'x'.repeat(40) })}`],
    [
      'HS384',
      async () => `Bearer ${await signed(good(), { alg: 'HS384', secret: SESSION_SECRET.repeat(2) })}`,
    ],
    [
      'HS512',
      async () => `Bearer ${await signed(good(), { alg: 'HS512', secret: SESSION_SECRET.repeat(2) })}`,
    ],
    ['alg none', () => `Bearer ${unsigned(good())}`],
    ['an expired token', async () => `Bearer ${await signed({ ...good(), exp: now() - 31 })}`],
    ['a token that is not valid yet', async () => `Bearer ${await signed({ ...good(), nbf: now() + 300 })}`],
    ['no exp', async () => `Bearer ${await signed({ sub: 'ada', email: 'ada@example.com' })}`],
    ['no sub', async () => `Bearer ${await signed({ ...good(), sub: undefined })}`],
    ['an empty sub', async () => `Bearer ${await signed({ ...good(), sub: '' })}`],
    ['a blank sub', async () => `Bearer ${await signed({ ...good(), sub: ' ' })}`],
    [
      'a sub that is a number',
      async () => `Bearer ${await signed({ ...good(), sub: 7 as unknown as string })}`,
    ],
    ['a sub that cannot be stored', async () => `Bearer ${await signed({ ...good(), sub: 'a\0b' })}`],
    ['a sub that is too long', async () => `Bearer ${await signed({ ...good(), sub: 'a'.repeat(256) })}`],
    ['no email', async () => `Bearer ${await signed({ ...good(), email: undefined })}`],
    ['an empty email', async () => `Bearer ${await signed({ ...good(), email: '' })}`],
    [
      'an email in user_metadata only',
      async () =>
        `Bearer ${await signed({ ...good(), email: undefined, user_metadata: { email: 'ada@example.com' } })}`,
    ],
    ['a proxy key', () => 'Bearer mk_0123456789abcdefghijklmnopqrstuvwxyz1LZ3mB'],
    ['the admin token', () => 'Bearer the-admin-token-of-this-test'],
  ])('%s gets the same 401 as every other invalid session', async (_what, authorization) => {
    const plain = await get(undefined);
    const header = await authorization();
    for (const path of ['/me/projects', '/me/projects/abc', '/me/organizations/1', '/me/unknown']) {
      const { status, body, headers } = await get(header, path);
      expect({ status, body, headers: comparable(headers) }).toEqual({
        status: 401,
        body: { error: { message: 'a valid session is required' } },
        headers: comparable(plain.headers),
      });
    }
  });

  it('cookies and query parameters are ignored', async () => {
    const token = await sessionFor('ada');
    await supertest(app.url).get('/me/projects').set('Cookie', `mintkeep_session=${token}`).expect(401);
    await supertest(app.url).get(`/me/projects?access_token=${token}&token=${token}`).expect(401);
  });

  it.each([
    ['just expired', { exp: -20 }],
    ['valid in 20 s', { nbf: 20 }],
  ])(
    'a session that is %s is accepted, because clocks differ',
    async (_what, offsets: Record<string, number>) => {
      const claims = Object.fromEntries(
        Object.entries(offsets).map(([name, offset]) => [name, now() + offset]),
      );
      await get(`Bearer ${await signed({ ...good(), ...claims })}`).expect(200);
    },
  );

  it('the scheme is case-insensitive', async () => {
    await get(`bearer ${await sessionFor('ada')}`).expect(200);
  });

  it('a cached session expires on time', async () => {
    const { exp } = good();
    const token = await signed({ ...good(), exp });
    await get(`Bearer ${token}`).expect(200);
    jest.useFakeTimers({ doNotFake: [...TIMERS] });
    try {
      jest.setSystemTime((exp + 29) * 1_000);
      await get(`Bearer ${token}`).expect(200);
      jest.setSystemTime((exp + 30) * 1_000);
      await get(`Bearer ${token}`).expect(401);
    } finally {
      jest.useRealTimers();
    }
  });

  it('public routes need no session', async () => {
    for (const path of ['/healthz', '/readyz', '/openapi.json']) await get(undefined, path).expect(200);
  });

  it('the stored e-mail address follows the session', async () => {
    const email = async () =>
      (await app.database.query('SELECT email FROM users WHERE id = $1', ['mover']))[0]?.email;
    await get(`Bearer ${await sessionFor('mover')}`).expect(200);
    expect(await email()).toBe('mover@example.com');
    await get(`Bearer ${await sessionFor('mover', { email: 'New@example.com' })}`).expect(200);
    expect(await email()).toBe('New@example.com');
  });

  it('many concurrent first requests on two replicas create the user once', async () => {
    const replica = await startApp({}, { database: app.database });
    try {
      for (let round = 0; round < 15; round++) {
        const token = `Bearer ${await sessionFor(`newcomer-${round}`)}`;
        const answers = await inParallel(30, (i) =>
          supertest(i % 2 ? app.url : replica.url)
            .post('/me/projects')
            .set('Authorization', token)
            .send({ name: `p${i}` }),
        );
        expect(tally(answers.map(({ status }) => status))).toEqual({ 201: 30 });
        expect(new Set(answers.map(({ body }) => body.organization_id)).size).toBe(1);
      }
      const counts = await app.database.query(
        `SELECT count(DISTINCT u.id)::int AS users, count(DISTINCT o.id)::int AS organizations, count(*)::int AS memberships
         FROM users u JOIN organizations o ON o.personal_user_id = u.id JOIN memberships m ON m.organization_id = o.id
         WHERE u.id LIKE 'newcomer-%'`,
      );
      expect(counts).toEqual([{ users: 15, organizations: 15, memberships: 15 }]);
    } finally {
      await replica.close();
    }
  });
});

describe('issuer and audience', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startApp({ SESSION_JWT_ISSUER: 'https://id.example.com', SESSION_JWT_AUDIENCE: 'mintkeep' });
  });
  afterAll(() => app.close());

  it.each([
    [{ iss: 'https://id.example.com', aud: 'mintkeep' }, 200],
    [{ iss: 'https://id.example.com', aud: ['other', 'mintkeep'] }, 200],
    [{ iss: 'https://id.example.com', aud: 'other' }, 401],
    [{ iss: 'https://id.example.com', aud: [] }, 401],
    [{ iss: 'https://id.example.com' }, 401],
    [{ iss: 'https://evil.example.com', aud: 'mintkeep' }, 401],
    [{ aud: 'mintkeep' }, 401],
  ])('%j is %d', async (claims, status) => {
    const token = await signed({ ...good(), ...claims });
    await supertest(app.url).get('/me/projects').set('Authorization', `Bearer ${token}`).expect(status);
  });
});

describe('sessions signed with a key of SESSION_JWKS_URL', () => {
  let provider: IdentityProvider;
  let app: TestApp;

  beforeEach(async () => {
    provider = await startIdentityProvider();
  });
  afterEach(async () => {
    await app.close();
    await provider.stop();
  });

  const start = async (variables: NodeJS.ProcessEnv = {}) => {
    app = await startApp({ SESSION_JWKS_URL: provider.jwksUrl, SESSION_JWT_SECRET: '', ...variables });
  };
  const get = (token: string) =>
    supertest(app.url).get('/me/projects').set('Authorization', `Bearer ${token}`);

  it.each(['RS256', 'ES256', 'EdDSA'])('%s is accepted', async (algorithm) => {
    await provider.addKey(algorithm);
    await start();
    await get(await provider.sign('ada')).expect(200);
    await get(tampered(await provider.sign('ada'))).expect(401);
    expect(provider.fetches()).toBe(1);
  });

  it.each(['RS256', 'ES256', 'EdDSA'])(
    '%s is accepted without a kid, for each of several keys',
    async (algorithm) => {
      for (let i = 0; i < 3; i++) await provider.addKey(algorithm);
      await start();
      for (let i = 0; i < 3; i++) {
        const token = await provider.signWithoutKid('ada', i);
        await get(token).expect(200);
        await get(tampered(token)).expect(401);
      }
      expect(provider.fetches()).toBe(2); // the second fetch is for the tampered token
    },
  );

  it.each([{}, { SESSION_JWT_SECRET: SESSION_SECRET }])(
    'a public key never serves as a secret (%j)',
    async (variables) => {
      const { publicJwk, kid } = await provider.addKey('RS256');
      await start(variables);
      await get(await provider.sign('ada')).expect(200);
      const pem = `-----BEGIN PUBLIC KEY-----\n${String(publicJwk.n)}\n-----END PUBLIC KEY-----`;
      for (const secret of [JSON.stringify(publicJwk), String(publicJwk.n), pem]) {
        const forged = await new SignJWT(good())
          .setProtectedHeader({ alg: 'HS256', kid })
          .sign(createSecretKey(Buffer.from(secret)));
        await get(forged).expect(401);
      }
    },
  );

  it('an HS256 session is accepted only if a secret is configured', async () => {
    await provider.addKey('RS256');
    await start();
    await get(await signed(good())).expect(401);
    await app.close();
    await start({ SESSION_JWT_SECRET: SESSION_SECRET });
    await get(await signed(good())).expect(200);
    await get(await provider.sign('ada')).expect(200);
  });

  it('cached keys stay in use while the provider is down', async () => {
    await provider.addKey('ES256');
    await start();
    await get(await provider.sign('ada')).expect(200);
    await provider.behave('offline');
    await get(await provider.sign('bob')).expect(200);
  });

  it('sessions of a withdrawn key end after a while, even if they are in use', async () => {
    await provider.addKey('ES256');
    await start();
    const token = await provider.sign('ada');
    await get(token).expect(200);
    provider.withdrawKeys();
    let passedMs = 0;
    const clocks = [performance, Date].map((clock) => {
      const now = clock.now.bind(clock);
      return jest.spyOn(clock, 'now').mockImplementation(() => now() + passedMs);
    });
    try {
      await eventually(() => {
        passedMs += 61_000;
        return get(token).expect(401);
      }, 3_600_000);
    } finally {
      for (const clock of clocks) clock.mockRestore();
    }
  });

  it.each(['offline', 'error', 'garbage', 'hang'] as const)(
    'the response is 503 without cached keys while the provider fails (%s)',
    async (how) => {
      await provider.addKey('ES256');
      await provider.behave(how);
      await start();
      const { body } = await get(await provider.sign('ada')).expect(503);
      expect(body.error.type).toBe('identity_provider_unavailable');
      await provider.behave('well');
      await eventually(async () => get(await provider.sign('ada')).expect(200));
    },
  );
});

function comparable({ date: _date, 'x-request-id': _id, etag: _etag, ...headers }: Record<string, unknown>) {
  return headers;
}

function tampered(token: string): string {
  const [header, payload, signature] = token.split('.');
  const claims = JSON.parse(Buffer.from(payload!, 'base64url').toString());
  return [header, base64url.encode(JSON.stringify({ ...claims, sub: 'somebody-else' })), signature].join('.');
}

function unsigned(claims: JWTPayload): string {
  const part = (value: unknown) => base64url.encode(JSON.stringify(value));
  return `${part({ alg: 'none', typ: 'JWT' })}.${part(claims)}.`;
}
