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

const now = () => Math.floor(Date.now() / 1_000);

/** A token as somebody else might make it. */
function signed(claims: JWTPayload, { alg = 'HS256', secret = SESSION_SECRET } = {}): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg }).sign(createSecretKey(Buffer.from(secret)));
}

const good = () => ({ sub: 'ada', email: 'ada@example.com', exp: now() + 600 });

describe('sessions of a secret', () => {
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
    ['one that is not valid yet', async () => `Bearer ${await signed({ ...good(), nbf: now() + 40 })}`],
    ['no exp', async () => `Bearer ${await signed({ sub: 'ada', email: 'ada@example.com' })}`],
    ['no sub', async () => `Bearer ${await signed({ ...good(), sub: undefined })}`],
    ['an empty sub', async () => `Bearer ${await signed({ ...good(), sub: '' })}`],
    ['a blank sub', async () => `Bearer ${await signed({ ...good(), sub: ' ' })}`],
    [
      'a sub that is a number',
      async () => `Bearer ${await signed({ ...good(), sub: 7 as unknown as string })}`,
    ],
    ['a sub that cannot be stored', async () => `Bearer ${await signed({ ...good(), sub: 'a\0b' })}`],
    ['an endless sub', async () => `Bearer ${await signed({ ...good(), sub: 'a'.repeat(256) })}`],
    ['no email', async () => `Bearer ${await signed({ ...good(), email: undefined })}`],
    ['an empty email', async () => `Bearer ${await signed({ ...good(), email: '' })}`],
    [
      'an email in user_metadata only',
      async () =>
        `Bearer ${await signed({ ...good(), email: undefined, user_metadata: { email: 'ada@example.com' } })}`,
    ],
    ['a proxy key', () => 'Bearer mk_0123456789abcdefghijklmnopqrstuvwxyz1LZ3mB'],
    ['the admin token', () => 'Bearer the-admin-token-of-this-test'],
  ])('%s is 401, and always the same 401', async (_what, authorization) => {
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

  it('is not taken from cookies or the query', async () => {
    const token = await sessionFor('ada');
    await supertest(app.url).get('/me/projects').set('Cookie', `mintkeep_session=${token}`).expect(401);
    await supertest(app.url).get(`/me/projects?access_token=${token}&token=${token}`).expect(401);
  });

  it.each([
    ['expired a moment ago', { exp: -20 }],
    ['valid in a moment', { nbf: 20 }],
  ])('clocks may differ: %s passes', async (_what, offsets: Record<string, number>) => {
    const claims = Object.fromEntries(
      Object.entries(offsets).map(([name, offset]) => [name, now() + offset]),
    );
    await get(`Bearer ${await signed({ ...good(), ...claims })}`).expect(200);
  });

  it('the scheme may be written in any case', async () => {
    await get(`bearer ${await sessionFor('ada')}`).expect(200);
  });

  it('a session that was used before ends all the same', async () => {
    const token = await signed({ ...good(), exp: now() - 28 });
    await get(`Bearer ${token}`).expect(200);
    await eventually(() => get(`Bearer ${token}`).expect(401));
  });

  it('routes that are public need none', async () => {
    for (const path of ['/healthz', '/readyz', '/openapi.json']) await get(undefined, path).expect(200);
  });

  it('the e-mail on record follows the session', async () => {
    const email = async () =>
      (await app.database.query('SELECT email FROM users WHERE id = $1', ['mover']))[0]?.email;
    await get(`Bearer ${await sessionFor('mover')}`).expect(200);
    expect(await email()).toBe('mover@example.com');
    await get(`Bearer ${await sessionFor('mover', { email: 'New@example.com' })}`).expect(200);
    expect(await email()).toBe('New@example.com');
  });

  it('the first requests of a user make it once, on two replicas, however many they are', async () => {
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

describe('sessions of public keys', () => {
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

  it.each(['RS256', 'ES256', 'EdDSA'])('%s passes', async (algorithm) => {
    await provider.addKey(algorithm);
    await start();
    await get(await provider.sign('ada')).expect(200);
    await get(tampered(await provider.sign('ada'))).expect(401);
    expect(provider.fetches()).toBe(1);
  });

  it.each(['RS256', 'ES256', 'EdDSA'])(
    '%s passes without a kid, whichever of several keys signed',
    async (algorithm) => {
      for (let i = 0; i < 3; i++) await provider.addKey(algorithm);
      await start();
      for (let i = 0; i < 3; i++) {
        const token = await provider.signWithoutKid('ada', i);
        await get(token).expect(200);
        await get(tampered(token)).expect(401);
      }
      expect(provider.fetches()).toBe(2); // once more for what none of the keys has signed
    },
  );

  it.each([{}, { SESSION_JWT_SECRET: SESSION_SECRET }])(
    'a public key is never a secret (%j)',
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

  it('an HS256 session passes only where there is a secret', async () => {
    await provider.addKey('RS256');
    await start();
    await get(await signed(good())).expect(401);
    await app.close();
    await start({ SESSION_JWT_SECRET: SESSION_SECRET });
    await get(await signed(good())).expect(200);
    await get(await provider.sign('ada')).expect(200);
  });

  it('keys at hand are used while the provider is down', async () => {
    await provider.addKey('ES256');
    await start();
    await get(await provider.sign('ada')).expect(200);
    await provider.behave('refuse');
    await get(await provider.sign('bob')).expect(200);
  });

  it('those of a key that was withdrawn end after a while, also when they are in use', async () => {
    await provider.addKey('ES256');
    await start();
    const token = await provider.sign('ada');
    await get(token).expect(200);
    provider.withdrawKeys();
    const now = performance.now.bind(performance);
    let passedMs = 0;
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now() + passedMs);
    try {
      await eventually(() => {
        passedMs += 61_000;
        return get(token).expect(401);
      }, 3_600_000);
    } finally {
      clock.mockRestore();
    }
  });

  it.each(['refuse', 'error', 'garbage', 'hang'] as const)(
    'no keys at hand and a provider that does not serve (%s) is 503',
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
