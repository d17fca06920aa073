import {
  customFetch,
  discovery,
  initiateDeviceAuthorization,
  None,
  pollDeviceAuthorizationGrant,
} from 'openid-client';
import type { Configuration } from 'openid-client';
import { KeyAuthenticator } from '../../src/keys/key-authenticator.js';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { beginLogin, decide, KEY, letPass, poll } from '../support/device-flow.js';
import { withinWindow } from '../support/within-window.js';

const PUBLIC_URL = 'https://mint.example.com';
const DEVICE_CODE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
/** A poll is too fast for so long after the one before. */
const POLL_WINDOW_MS = 4_000;

let app: TestApp;
let ada: Awaited<ReturnType<TestApp['as']>>;

beforeAll(async () => {
  app = await startApp({ PUBLIC_URL, DEVICE_CODES_PER_MINUTE: '10' });
  ada = await app.as('ada');
});
afterAll(() => app.close());
beforeEach(() => app.database.query('DELETE FROM rate_limits'));

const flat = (error: string) => ({ error, error_description: expect.any(String) });

async function begin(fields: Record<string, string> = {}) {
  const { body } = await app.anonymous
    .post('/oauth/device_authorization')
    .type('form')
    .send({ client_id: 'cli', ...fields })
    .expect(200)
    .expect('Cache-Control', 'no-store');
  return body;
}

const token = (deviceCode: string) =>
  app.anonymous
    .post('/oauth/token')
    .type('form')
    .send({ grant_type: DEVICE_CODE_GRANT, device_code: deviceCode, client_id: 'cli' });

describe('openid-client', () => {
  let client: Configuration;
  /** All responses that the client received. */
  let responses: string[];
  /** Runs before the client receives a response. */
  let onResponse: (response: string) => Promise<unknown> | undefined;

  beforeAll(async () => {
    client = await discovery(new URL(PUBLIC_URL), 'mint-cli', undefined, None(), {
      algorithm: 'oauth2',
      [customFetch]: async (url, options) => {
        const response = await fetch(url.replace(PUBLIC_URL, app.url), options);
        const body = (await response.clone().json()) as { error?: string };
        responses.push(`${response.status} ${body.error ?? 'ok'}`);
        await onResponse(responses.at(-1)!);
        return response;
      },
    });
  });
  beforeEach(() => {
    responses = [];
    onResponse = () => undefined;
  });
  responses = [];
  onResponse = () => undefined;

  it('begins, waits for the approval and gets a valid key', async () => {
    const login = await initiateDeviceAuthorization(client, {});
    expect(login).toMatchObject({
      expires_in: 600,
      interval: 5,
      verification_uri: `${PUBLIC_URL}/auth/device`,
      verification_uri_complete: `${PUBLIC_URL}/auth/device?user_code=${login.user_code}`,
    });
    const { body } = await ada.get(`/me/device-requests/${login.user_code}`).expect(200);
    expect(body).toMatchObject({ name: 'mint-cli', hostname: null });
    onResponse = (response) =>
      response === '400 authorization_pending'
        ? decide(ada, login.user_code, 'approve').expect(200).then()
        : undefined;
    const { access_token, token_type } = await pollDeviceAuthorizationGrant(client, {
      ...login,
      interval: 0.3,
    });
    expect(token_type).toBe('bearer'); // the client converts it to lower case
    const key = await app.app.get(KeyAuthenticator).authenticate(access_token);
    expect(key).toMatchObject({ userId: 'ada' });
    expect(responses).toEqual(['200 ok', '400 authorization_pending', '200 ok']);
    await expect(pollDeviceAuthorizationGrant(client, { ...login, interval: 0 })).rejects.toMatchObject({
      error: 'expired_token',
      status: 400,
    });
  });

  it('stops after a denial', async () => {
    const login = await initiateDeviceAuthorization(client, { scope: 'anything' });
    await decide(ada, login.user_code, 'deny').expect(200);
    await expect(pollDeviceAuthorizationGrant(client, { ...login, interval: 0 })).rejects.toMatchObject({
      error: 'access_denied',
      status: 400,
    });
  });
});

describe('POST /oauth/token', () => {
  it('responds with 400 and a flat error until the approval', () =>
    withinWindow(POLL_WINDOW_MS, async () => {
      const { device_code, user_code } = await begin();
      const pending = await token(device_code).expect(400).expect('Cache-Control', 'no-store');
      expect(pending.body).toEqual(flat('authorization_pending'));
      expect((await token(device_code).expect(400)).body).toEqual(flat('slow_down'));
      await letPass(app, 4);
      expect((await token(device_code).expect(400)).body).toEqual(flat('authorization_pending'));
      await decide(ada, user_code, 'approve').expect(200);
      const { body, headers } = await token(device_code).expect(200);
      expect(headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' });
      expect(body).toEqual({ access_token: expect.stringMatching(/^mk_/), token_type: 'Bearer' });
      expect((await token(device_code).expect(400)).body).toEqual(flat('expired_token'));
    }));

  /** Polls like a client that sends its id in a Basic header. */
  const basicToken = (deviceCode: string) =>
    app.anonymous
      .post('/oauth/token')
      .auth('cli', '')
      .type('form')
      .send({ grant_type: DEVICE_CODE_GRANT, device_code: deviceCode });

  it('does not slow down a client that repeats each poll without its Basic header, as Go does', () =>
    withinWindow(POLL_WINDOW_MS, async () => {
      const { device_code, user_code } = await begin();
      for (const first of ['authorization_pending', 'slow_down', 'slow_down']) {
        expect((await basicToken(device_code)).body).toEqual(flat(first)); // the client ignores this response
        expect((await token(device_code).expect(400)).body).toEqual(flat('authorization_pending'));
        await letPass(app, 4);
      }
      await decide(ada, user_code, 'approve').expect(200);
      const { body } = await basicToken(device_code).expect(200);
      expect(body.access_token).toMatch(/^mk_/);
      expect((await token(device_code).expect(400)).body).toEqual(flat('expired_token'));
    }));

  it('responds to a client that always sends a Basic header as to others', () =>
    withinWindow(POLL_WINDOW_MS, async () => {
      const { device_code, user_code } = await begin();
      for (let i = 0; i < 3; i++) {
        expect((await basicToken(device_code).expect(400)).body).toEqual(flat('authorization_pending'));
        expect((await basicToken(device_code)).body).toEqual(flat('slow_down'));
        await letPass(app, 4);
      }
      await decide(ada, user_code, 'deny').expect(200);
      expect((await basicToken(device_code).expect(400)).body).toEqual(flat('access_denied'));
      expect((await basicToken('x').expect(400)).body).toEqual(flat('invalid_grant'));
    }));

  it('accepts the sessions of /auth/device/code, and vice versa', async () => {
    const [ours, theirs] = [await beginLogin(app), await begin()];
    await decide(ada, ours.user_code, 'approve').expect(200);
    await decide(ada, theirs.user_code, 'approve').expect(200);
    await token(ours.device_code).expect(200);
    expect(await poll(app, theirs.device_code)).toMatch(KEY);
    expect(await poll(app, ours.device_code)).toBe('400 expired_token');
  });

  it.each<[string, string, string]>([
    ['no parameters', '', 'invalid_request'],
    ['no grant type', 'device_code=x', 'invalid_request'],
    ['an empty grant type', 'grant_type=&device_code=x', 'invalid_request'],
    ['another grant type', 'grant_type=authorization_code&code=x', 'unsupported_grant_type'],
    ['no device code', `grant_type=${DEVICE_CODE_GRANT}`, 'invalid_request'],
    ['an empty device code', `grant_type=${DEVICE_CODE_GRANT}&device_code=`, 'invalid_request'],
    ['an unknown device code', `grant_type=${DEVICE_CODE_GRANT}&device_code=x`, 'invalid_grant'],
    ['a parameter twice', `grant_type=${DEVICE_CODE_GRANT}&device_code=x&device_code=x`, 'invalid_request'],
    ['JSON', '{"device_code": "x"}', 'invalid_request'],
    ['too much', 'x'.repeat(1_048_577), 'invalid_request'],
  ])('rejects %s', async (_what, body, error) => {
    const response = await app.anonymous.post('/oauth/token').type('form').send(body).expect(400);
    expect(response.body).toEqual(flat(error));
  });

  it.each(['application/json', 'text/plain', 'multipart/form-data'])(
    'rejects the content type %s',
    async (type) => {
      const request = app.anonymous.post('/oauth/token').set('Content-Type', type);
      const response = await request.send(`grant_type=${DEVICE_CODE_GRANT}&device_code=x`).expect(400);
      expect(response.body).toEqual(flat('invalid_request'));
    },
  );

  it('does not reveal internal errors', async () => {
    const { device_code, user_code } = await begin();
    await decide(ada, user_code, 'approve').expect(200);
    await app.database.query('ALTER TABLE proxy_keys ADD CONSTRAINT no_more CHECK (id < 0) NOT VALID');
    try {
      const { body } = await token(device_code).expect(500);
      expect(body).toEqual({ error: 'server_error', error_description: 'internal error' });
    } finally {
      await app.database.query('ALTER TABLE proxy_keys DROP CONSTRAINT no_more');
    }
    await token(device_code).expect(200);
  });
});

describe('POST /oauth/device_authorization', () => {
  it('prefers name to client_id', async () => {
    const { user_code } = await begin({ name: ' My\u202e CLI ', hostname: 'box' });
    const { body } = await ada.get(`/me/device-requests/${user_code}`).expect(200);
    expect(body).toMatchObject({ name: 'My CLI', hostname: 'box' });
  });

  it('treats an empty parameter as absent', async () => {
    const { user_code } = await begin({ client_id: 'cli', name: '', hostname: '' });
    const { body } = await ada.get(`/me/device-requests/${user_code}`).expect(200);
    expect(body).toMatchObject({ name: 'cli', hostname: null });
  });

  it('shares its rate limit with /auth/device/code', async () => {
    for (let i = 0; i < 10; i++) await (i % 2 ? begin() : beginLogin(app));
    const { body, headers } = await app.anonymous
      .post('/oauth/device_authorization')
      .type('form')
      .send({ client_id: 'cli' })
      .expect(429);
    expect(body).toEqual(flat('rate_limited'));
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    await app.anonymous.post('/auth/device/code').expect(429);
  });
});

it('the metadata names the endpoints', async () => {
  const { body } = await app.anonymous.get('/.well-known/oauth-authorization-server').expect(200);
  expect(body).toEqual({
    issuer: PUBLIC_URL,
    device_authorization_endpoint: `${PUBLIC_URL}/oauth/device_authorization`,
    token_endpoint: `${PUBLIC_URL}/oauth/token`,
    revocation_endpoint: `${PUBLIC_URL}/oauth/revoke`,
    introspection_endpoint: `${PUBLIC_URL}/oauth/introspect`,
    grant_types_supported: [DEVICE_CODE_GRANT],
    response_types_supported: [],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    introspection_endpoint_auth_methods_supported: ['Bearer'],
    service_documentation: `${PUBLIC_URL}/docs`,
  });
});

it('the metadata is found if PUBLIC_URL has a path that a load balancer strips', async () => {
  const issuer = 'https://example.com/apps/mint';
  const below = await startApp({ PUBLIC_URL: `${issuer}/` });
  try {
    const client = await discovery(new URL(issuer), 'mint-cli', undefined, None(), {
      algorithm: 'oauth2',
      [customFetch]: (url, options) =>
        fetch(url.replace(issuer, below.url).replace('https://example.com', below.url), options),
    });
    expect(client.serverMetadata().token_endpoint).toBe(`${issuer}/oauth/token`);
    await below.anonymous.get('/.well-known/oauth-authorization-server').expect(200);
    for (const other of ['apps', 'apps/mint/x', 'apps/mintx'])
      await below.anonymous.get(`/.well-known/oauth-authorization-server/${other}`).expect(404);
    await below.anonymous
      .post('/.well-known/oauth-authorization-server/apps/mint')
      .expect(405)
      .expect('Allow', 'GET, HEAD');
  } finally {
    await below.close();
  }
});
