import type { NestExpressApplication } from '@nestjs/platform-express';
import { getRepositoryToken } from '@nestjs/typeorm';
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import supertest from 'supertest';
import type { Repository } from 'typeorm';
import { parseSettings } from '../../src/config/parse-settings.js';
import { DeviceExpiry } from '../../src/device-auth/flow/device-expiry.js';
import { DeviceSession } from '../../src/device-auth/flow/device-session.entity.js';
import { UserCodes } from '../../src/device-auth/flow/user-codes.js';
import { KeyAuthenticator } from '../../src/keys/key-authenticator.js';
import { setupApp } from '../../src/setup-app.js';
import { startApp, testVariables } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { connect, createDatabase, dump, limitRows, lockedOut, unlimitRows } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { beginLogin, decide, KEY, letPass, poll, TestBrowser } from '../support/device-flow.js';
import { join, personalOwner, teamOwner } from '../support/owners.js';
import { inParallel, tally } from '../support/parallel.js';
import { plansOf } from '../support/plans.js';
import { connectRaw, statusesIn } from '../support/raw-client.js';
import { holdBackJob } from '../support/scheduled-jobs.js';
import { startService } from '../support/service.js';
import type { Service } from '../support/service.js';
import { sessionFor } from '../support/sessions.js';
import { withinWindow } from '../support/within-window.js';

const { jest } = import.meta;
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const USER_CODE = /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/;
const UNKNOWN_CODE = 'ZZZZ-ZZZZ';
const INVALID_USER_CODE = { error: { type: 'invalid_user_code', message: expect.any(String) } };

let app: TestApp;
/** A second replica on the same database. */
let replica: { app: NestExpressApplication; url: string; anonymous: ReturnType<typeof supertest.agent> };
let ada: ReturnType<typeof supertest.agent>;

beforeAll(async () => {
  app = await startApp({ DEVICE_CODES_PER_MINUTE: '1000000', TRUST_PROXY: '127.0.0.0/8' });
  const other = await setupApp(
    parseSettings({ ...testVariables(app.database.url, app.dataDir), TRUST_PROXY: '127.0.0.0/8' }),
    app.database.url,
  );
  await other.listen(0, '127.0.0.1');
  const { port } = other.getHttpServer().address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  replica = { app: other, url, anonymous: supertest.agent(url) };
  ada = await app.as('ada');
  await ada.get('/me/projects').expect(200);
});
afterAll(async () => {
  await replica.app.close();
  await app.close();
});
beforeEach(() => app.database.query('DELETE FROM rate_limits'));

const latestState = async (): Promise<string> =>
  (
    await app.database.query<{ state: string }>('SELECT state FROM device_sessions ORDER BY id DESC LIMIT 1')
  )[0]!.state;
const keys = async (user: string): Promise<Record<string, unknown>[]> =>
  (await (await app.as(user)).get('/me/keys').expect(200)).body.keys;

describe('POST /auth/device/code', () => {
  it.each([
    ['no body', undefined],
    ['an empty object', '{}'],
    ['nulls', '{"name": null, "hostname": null}'],
    ['unknown members', '{"scope": ["everything"]}'],
  ])('accepts %s', async (_what, body) => {
    const { body: code, headers } = await app.anonymous.post('/auth/device/code').send(body).expect(200);
    expect(code).toEqual({
      device_code: expect.stringMatching(/^[\w-]{94}$/),
      user_code: expect.stringMatching(USER_CODE),
      verification_uri: 'http://localhost:3000/auth/device',
      verification_uri_complete: `http://localhost:3000/auth/device?user_code=${code.user_code}`,
      expires_in: 600,
      interval: 5,
    });
    expect(headers['cache-control']).toBe('no-store');
  });

  it.each([
    '{',
    '[]',
    '"x"',
    '7',
    '{"name": 7}',
    '{"name": {}}',
    '{"hostname": ["a"]}',
    '{"hostname": false}',
  ])('rejects the body %s', async (body) => {
    const answer = await app.anonymous.post('/auth/device/code').send(body).expect(400);
    expect(answer.body).toEqual({ error: { type: 'invalid_request', message: expect.any(String) } });
  });

  it('rejects a body that is too large or encoded', async () => {
    for (const request of [
      app.anonymous.post('/auth/device/code').send(JSON.stringify({ name: 'x'.repeat(1_048_576) })),
      app.anonymous.post('/auth/device/code').set('Content-Encoding', 'gzip').send('{}'),
    ]) {
      expect((await request.expect(400)).body.error.type).toBe('invalid_request');
    }
  });

  it.each([
    [{ name: 'n'.repeat(65), hostname: 'h'.repeat(254) }, ['n'.repeat(64), 'h'.repeat(253)]],
    [{ name: '💻'.repeat(65) }, ['💻'.repeat(64), null]],
    [{ name: ' a\u0000b\r\nc\u001b[0m\u202ed\u2066\u200f\u2028 ' }, ['abc[0md', null]],
    [{ name: ' \t ', hostname: '\u202e' }, [null, null]],
    [{ name: 'half \ud83d' }, ['half', null]],
  ])('truncates and cleans the names of %j', async (device, [name, hostname]) => {
    const { user_code } = await beginLogin(app, device);
    const { body } = await ada.get(`/me/device-requests/${user_code}`).expect(200);
    expect(body).toMatchObject({ name, hostname });
  });

  it('generates another user code if one is in use, also under an older encryption key', async () => {
    const { user_code: taken } = await beginLogin(app);
    const codes = jest.spyOn(app.app.get(UserCodes), 'generate').mockReturnValueOnce(taken);
    const { user_code } = await beginLogin(app);
    expect(codes).toHaveBeenCalledTimes(2);
    expect(user_code).not.toBe(taken);
    codes.mockRestore();
  });

  it('limits requests by address or IPv6 /64, over all replicas together', async () => {
    const ask = (agent: typeof app.anonymous, address: string) =>
      agent.post('/auth/device/code').set('X-Forwarded-For', address);
    const answers = await inParallel(70, () => ask(replica.anonymous, '203.0.113.7'));
    expect(tally(answers.map(({ status }) => status))).toEqual({ 200: 60, 429: 10 });
    const refused = answers.find(({ status }) => status === 429)!;
    expect(refused.body).toEqual({ error: { type: 'rate_limited', message: expect.any(String) } });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60);
    await ask(replica.anonymous, '203.0.113.8').expect(200);
    await ask(replica.anonymous, '::ffff:203.0.113.7').expect(429);
    await app.database.query(
      `UPDATE rate_limits SET hits = 60, resets_at = clock_timestamp() + interval '1 minute'`,
    );
    await ask(replica.anonymous, '203.0.113.8').expect(429);
    await inParallel(60, (i) => ask(app.anonymous, `2001:db8:1:2::${i}`).expect(200));
    await ask(replica.anonymous, '2001:db8:1:2:ffff::1').expect(429);
    await ask(replica.anonymous, '2001:db8:1:3::1').expect(200);
  });

  it('accepts requests again after the minute ends', async () => {
    let address = 0;
    const ask = () =>
      replica.anonymous.post('/auth/device/code').set('X-Forwarded-For', `198.18.0.${address}`);
    await withinWindow(2_000, async () => {
      await app.database.query(
        `INSERT INTO rate_limits (key, hits, resets_at)
         VALUES ('device-codes:' || $1, 60, clock_timestamp() + make_interval(secs => 2))`,
        [`198.18.0.${++address}`],
      );
      const { headers } = await ask().expect(429);
      expect(Number(headers['retry-after'])).toBeLessThanOrEqual(2);
    });
    await eventually(() => ask().expect(200));
  });

  it.each(['/auth/device/code', '/oauth/device_authorization'])(
    '%s counts rejected bodies, and applies the limit before it reads the body',
    async (path) => {
      const address = path.includes('oauth') ? '203.0.113.10' : '203.0.113.11';
      const ask = () => replica.anonymous.post(path).set('X-Forwarded-For', address).type('json').send('[');
      const answers = await inParallel(61, ask);
      expect(tally(answers.map(({ status }) => status))).toEqual({ 400: 60, 429: 1 });
      const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${address}\r\nContent-Length: 9\r\n\r\n`;
      const client = await connectRaw({ url: replica.url }, head);
      await eventually(() => expect(statusesIn(client.text())).toEqual([429]));
      client.socket.destroy();
    },
  );

  it('rejects a client over its limit without the database', async () => {
    const ask = () => replica.anonymous.post('/auth/device/code').set('X-Forwarded-For', '203.0.113.12');
    await inParallel(61, ask);
    await ask().expect(429);
    const before = await app.database.query('SELECT hits FROM rate_limits');
    await inParallel(50, () => ask().expect(429));
    expect(await app.database.query('SELECT hits FROM rate_limits')).toEqual(before);
  });
});

describe('POST /auth/device/token', () => {
  it('is pending until the approval, then returns the key once', async () => {
    const { device_code, user_code } = await beginLogin(app, { name: 'CLI', hostname: 'box' });
    const pending = await app.anonymous.post('/auth/device/token').send({ device_code }).expect(429);
    expect(pending.body).toEqual({
      error: { type: 'authorization_pending', message: expect.any(String), interval: 5 },
    });
    expect(pending.headers['retry-after']).toBe('5');
    await decide(ada, user_code, 'approve').expect(200, { status: 'approved' });
    const before = Date.now();
    const { body, headers } = await app.anonymous
      .post('/auth/device/token')
      .send({ device_code })
      .expect(200);
    expect(headers['cache-control']).toBe('no-store');
    expect(body).toEqual({ api_key: expect.stringMatching(/^mk_/), issued_at_ms: expect.any(Number) });
    expect(body.issued_at_ms).toBeGreaterThan(before - 1_000);
    expect(body.issued_at_ms).toBeLessThan(Date.now() + 1_000);
    const key = (await keys('ada')).at(-1)!;
    expect(key).toMatchObject({
      name: 'CLI',
      source: 'device',
      device: { name: 'CLI', hostname: 'box' },
      last4: body.api_key.slice(-4),
      expires_at: null,
    });
    expect(Date.parse(String(key.created_at))).toBe(body.issued_at_ms);
    const known = await app.app.get(KeyAuthenticator).authenticate(body.api_key);
    expect(known).toMatchObject({ userId: 'ada', organizationId: key.organization_id });
    for (let i = 0; i < 3; i++) expect(await poll(app, device_code)).toBe('400 expired_token');
  });

  it.each(['{', '{}', '[]', '{"device_code": 7}', '{"device_code": null}', '', '{"device_code": ""}'])(
    'rejects the body %j',
    async (body) => {
      const answer = await app.anonymous.post('/auth/device/token').send(body).expect(400);
      expect(answer.body).toEqual({ error: { type: 'invalid_request', message: expect.any(String) } });
    },
  );

  it('rejects a forged code without a database query', async () => {
    const { device_code } = await beginLogin(app);
    const queries = jest.spyOn(
      app.app.get<Repository<DeviceSession>>(getRepositoryToken(DeviceSession)),
      'query',
    );
    const last = device_code.at(-1) === 'A' ? 'B' : 'A';
    for (const forged of [
      `${device_code.slice(0, -1)}${last}`,
      `${device_code}=`,
      ` ${device_code}`,
      `A${device_code.slice(1)}x`,
      device_code.slice(0, 50),
      'x'.repeat(94),
    ]) {
      expect(await poll(app, forged)).toBe('400 invalid_request');
    }
    expect(queries).not.toHaveBeenCalled();
    queries.mockRestore();
  });

  it('checks the state before the interval: a device that polls too fast still gets the key', async () => {
    const { device_code, user_code } = await beginLogin(app);
    expect(await poll(app, device_code)).toBe('429 authorization_pending');
    await decide(ada, user_code, 'approve').expect(200);
    expect(await poll(app, device_code)).toMatch(KEY);
  });

  it('returns the key right after the approval, on any replica', async () => {
    for (let i = 0; i < 20; i++) {
      const { device_code, user_code } = await beginLogin(app);
      await poll(app, device_code);
      await decide(ada, user_code, 'approve').expect(200);
      expect(await poll(replica, device_code)).toMatch(KEY);
    }
  });

  it('slows down a tight loop, and accepts the next poll that is on time', () =>
    withinWindow(3_000, async () => {
      const { device_code } = await beginLogin(app);
      expect(await poll(app, device_code)).toBe('429 authorization_pending');
      for (let i = 0; i < 20; i++) {
        const { body, status, headers } = await app.anonymous
          .post('/auth/device/token')
          .send({ device_code });
        expect([status, body.error.type, body.error.interval]).toEqual([429, 'slow_down', 5]);
        expect(headers['retry-after']).toBe('5');
      }
      await letPass(app, 1);
      expect(await poll(app, device_code)).toBe('429 slow_down'); // a rejected poll does not count for the interval
      await letPass(app, 3.1);
      expect(await poll(app, device_code)).toBe('429 authorization_pending');
      expect(await poll(app, device_code)).toBe('429 slow_down');
    }));

  it.each([
    [3.5, 'slow_down'],
    [4, 'authorization_pending'],
    [5, 'authorization_pending'],
  ])('a poll %d s after the last accepted one is %s', (seconds, type) =>
    withinWindow(500, async () => {
      const { device_code } = await beginLogin(app);
      await poll(app, device_code);
      await letPass(app, seconds);
      expect(await poll(app, device_code)).toBe(`429 ${type}`);
    }),
  );

  it('accepts 60 polls at intervals of 5 s ± 400 ms', async () => {
    const { device_code } = await beginLogin(app);
    const answers = [];
    let drift = 0;
    for (let i = 0; i < 60; i++) {
      answers.push(await poll(i % 2 ? app : replica, device_code));
      const next = Math.random() * 0.8 - 0.4;
      await letPass(app, 5 + next - drift);
      drift = next;
    }
    expect(tally(answers)).toEqual({ '429 authorization_pending': 60 });
  });

  it('accepts one of several concurrent polls', () =>
    withinWindow(4_000, async () => {
      const { device_code } = await beginLogin(app);
      const answers = await inParallel(10, (i) => poll(i % 2 ? app : replica, device_code));
      expect(tally(answers)).toEqual({ '429 authorization_pending': 1, '429 slow_down': 9 });
    }));

  it('reports a denial to every later poll', async () => {
    const { device_code, user_code } = await beginLogin(app);
    await decide(ada, user_code, 'deny').expect(200, { status: 'denied' });
    for (let i = 0; i < 3; i++) expect(await poll(app, device_code)).toBe('400 access_denied');
    await letPass(app, 601);
    expect(await poll(app, device_code)).toBe('400 access_denied');
  });

  it('reports an undecided request as expired after 600 s', async () => {
    const { device_code, user_code } = await beginLogin(app);
    await letPass(app, 540);
    expect(await poll(app, device_code)).toBe('429 authorization_pending');
    await letPass(app, 60);
    expect(await poll(app, device_code)).toBe('400 expired_token');
    await decide(ada, user_code, 'approve').expect(404);
    expect(await poll(app, device_code)).toBe('400 expired_token');
  });

  it('reports an approved request whose key was not fetched as expired after 600 s', async () => {
    const { device_code, user_code } = await beginLogin(app);
    await decide(ada, user_code, 'approve').expect(200);
    await letPass(app, 600);
    const before = (await keys('ada')).length;
    expect(await poll(app, device_code)).toBe('400 expired_token');
    expect(await keys('ada')).toHaveLength(before);
  });
});

describe('fetching the key of an approved request', () => {
  it('succeeds for one of 20 concurrent polls on two replicas, and creates one key', async () => {
    const user = await app.as('racer');
    for (let round = 0; round < 5; round++) {
      const { device_code, user_code } = await beginLogin(app);
      await decide(user, user_code, 'approve').expect(200);
      const answers = await inParallel(20, (i) => poll(i % 2 ? app : replica, device_code));
      expect(answers.filter((answer) => KEY.test(answer))).toHaveLength(1);
      expect(answers.filter((answer) => answer === '400 expired_token')).toHaveLength(19);
      expect(await keys('racer')).toHaveLength(round + 1);
    }
  });

  it('leaves the request approved after a failure', async () => {
    const { device_code, user_code } = await beginLogin(app);
    await decide(ada, user_code, 'approve').expect(200);
    await app.database.query(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no room'; END $$;
      CREATE TRIGGER refuse BEFORE INSERT ON proxy_keys FOR EACH ROW EXECUTE FUNCTION refuse()`);
    try {
      const failed = await app.anonymous.post('/auth/device/token').send({ device_code }).expect(500);
      expect(failed.body).toEqual({ error: { message: 'internal error' } });
      expect(await latestState()).toBe('approved');
    } finally {
      await app.database.query('DROP TRIGGER refuse ON proxy_keys; DROP FUNCTION refuse');
    }
    expect(await poll(app, device_code)).toMatch(KEY);
    expect(await latestState()).toBe('consumed');
  });

  it.each<[string, string, (deviceCode: string) => string]>([
    ['/auth/device/token', 'application/json', (device_code) => JSON.stringify({ device_code })],
    [
      '/oauth/token',
      'application/x-www-form-urlencoded',
      (device_code) =>
        `grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code&device_code=${device_code}`,
    ],
  ])(
    '%s keeps the key for the next poll if the device has closed its connection',
    async (path, type, bodyOf) => {
      const { device_code, user_code } = await beginLogin(app);
      await decide(ada, user_code, 'approve').expect(200);
      const before = (await keys('ada')).length;
      const holder = await connect(app.database);
      await holder.query('BEGIN');
      await holder.query(
        'SELECT FROM device_sessions WHERE device_code_sha256 = sha256($1::bytea) FOR UPDATE',
        [Buffer.from(device_code)],
      );

      const connected = once(app.app.getHttpServer(), 'connection') as Promise<[Socket]>;
      const body = bodyOf(device_code);
      const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}`;
      const { socket } = await connectRaw(app, `${head}\r\n\r\n${body}`);
      const [served] = await connected;
      await lockedOut(app.database, 1);
      socket.destroy();
      await once(served, 'close');
      await holder.query('COMMIT');
      await holder.end();

      expect(await poll(app, device_code)).toMatch(KEY);
      expect(await keys('ada')).toHaveLength(before + 1);
    },
  );

  it('is denied for good if the approver was removed from the team after the approval', async () => {
    const team = await teamOwner(app);
    const mo = await join(app, team, 'mo', 'member');
    const { device_code, user_code } = await beginLogin(app);
    await decide(mo, user_code, 'approve', { organization_id: team.organizationId }).expect(200);
    await team.admin.delete(`${team.base}/members/mo`).expect(200);
    const answers = await inParallel(5, (i) => poll(i % 2 ? app : replica, device_code));
    expect(tally(answers)).toEqual({ '400 access_denied': 5 });
    expect(await keys('mo')).toEqual([]);
    await join(app, team, 'mo', 'member');
    expect(await poll(app, device_code)).toBe('400 access_denied');
    expect(await latestState()).toBe('denied');
  });

  it.each([
    ['team', 'DELETE FROM organizations WHERE id = $1'],
    ['user', "DELETE FROM users WHERE id = 'gone' AND $1 > 0"],
  ])('is denied if the %s was deleted', async (_what, statement) => {
    const team = await teamOwner(app);
    const user = await join(app, team, 'gone', 'member');
    const { device_code, user_code } = await beginLogin(app);
    await decide(user, user_code, 'approve', { organization_id: team.organizationId }).expect(200);
    await app.database.query(statement, [team.organizationId]);
    expect(await poll(app, device_code)).toBe('400 access_denied');
  });

  it('leaves no valid key when it races with the removal of the approver', async () => {
    const team = await teamOwner(app);
    const answers = await inParallel(20, async (i) => {
      const user = await join(app, team, `leaver-${i}`, 'member');
      const { device_code, user_code } = await beginLogin(app);
      await decide(user, user_code, 'approve', { organization_id: team.organizationId }).expect(200);
      const [answer] = await Promise.all([
        poll(replica, device_code),
        team.admin.delete(`${team.base}/members/leaver-${i}`).expect(200),
      ]);
      const key = KEY.test(answer) ? answer.slice(4) : undefined;
      if (key) expect(await app.app.get(KeyAuthenticator).authenticate(key)).toBeUndefined();
      return key ? 'key' : answer;
    });
    expect(Object.keys(tally(answers)).filter((a) => !['key', '400 access_denied'].includes(a))).toEqual([]);
  });

  it('adds an entry to the audit trail of the owner', async () => {
    const team = await teamOwner(app);
    const { device_code, user_code } = await beginLogin(app, { hostname: 'ci-7' });
    await decide(team.admin, user_code, 'approve', { organization_id: team.organizationId }).expect(200);
    expect(await poll(app, device_code)).toMatch(KEY);
    const { body } = await team.admin.get(`${team.base}/audit`).expect(200);
    expect(body.events[0]).toMatchObject({
      action: 'key.minted',
      target: { type: 'key', name: 'ci-7', user_id: team.user },
      details: { source: 'device' },
    });
    expect((await keys(team.user)).at(-1)).toMatchObject({ organization_id: team.organizationId });
  });
});

describe('approving and denying', () => {
  it('shows the request of the device', async () => {
    const { body: code } = await app.anonymous
      .post('/auth/device/code')
      .set('X-Forwarded-For', '198.51.100.4')
      .send({ name: 'CLI', hostname: 'box' });
    const { body } = await ada.get(`/me/device-requests/${code.user_code}`).expect(200);
    expect(body).toEqual({
      user_code: code.user_code,
      name: 'CLI',
      hostname: 'box',
      ip: '198.51.100.4',
      same_ip: false,
      created_at: expect.stringMatching(ISO_TIME),
      expires_at: expect.stringMatching(ISO_TIME),
    });
    expect(Date.parse(body.expires_at) - Date.parse(body.created_at)).toBe(600_000);
    const there = await ada
      .get(`/me/device-requests/${code.user_code}`)
      .set('X-Forwarded-For', '198.51.100.4')
      .expect(200);
    expect(there.body.same_ip).toBe(true);
  });

  it.each([
    (code: string) => code.toLowerCase(),
    (code: string) => code.replace('-', ''),
    (code: string) => code.replace('-', ' '),
    (code: string) => ` ${code.replace('-', ' - ')} `,
    (code: string) => code.toLowerCase().split('').join(' '),
  ])('accepts different spellings of a code (%#)', async (typed) => {
    const { user_code } = await beginLogin(app);
    const { body } = await ada.get(`/me/device-requests/${encodeURIComponent(typed(user_code))}`).expect(200);
    expect(body.user_code).toBe(user_code);
  });

  it('responds identically to unknown, malformed, expired and used codes', async () => {
    const [expired, denied, approved, consumed] = await inParallel(4, () => beginLogin(app));
    await decide(ada, denied!.user_code, 'deny').expect(200);
    await decide(ada, approved!.user_code, 'approve').expect(200);
    await decide(ada, consumed!.user_code, 'approve').expect(200);
    expect(await poll(app, consumed!.device_code)).toMatch(KEY);
    await app.database.query(
      `UPDATE device_sessions SET expires_at = clock_timestamp() WHERE id = (
         SELECT min(id) FROM device_sessions WHERE state = 'pending' AND device_code_sha256 = sha256($1::bytea))`,
      [Buffer.from(expired!.device_code)],
    );
    const codes = [expired!, denied!, approved!, consumed!].map(({ user_code }) => user_code);
    for (const code of [...codes, UNKNOWN_CODE, 'x', 'BCDF-GHJ0', 'BCDF-GHJK-', 'BCDF–GHJK']) {
      const path = `/me/device-requests/${encodeURIComponent(code)}`;
      await app.database.query('DELETE FROM rate_limits');
      for (const request of [ada.get(path), ada.post(`${path}/approve`), ada.post(`${path}/deny`)])
        expect((await request.expect(404)).body).toEqual(INVALID_USER_CODE);
    }
  });

  it('requires a session', async () => {
    const { user_code } = await beginLogin(app);
    const path = `/me/device-requests/${user_code}`;
    await app.anonymous.get(path).expect(401);
    await app.anonymous.post(`${path}/approve`).send('{').expect(401);
    const cookie = `mintkeep_session=${await sessionFor('ada')}`;
    await app.anonymous.post(`${path}/approve`).set('Cookie', cookie).expect(401);
  });

  it('does not approve for a team that the user is not a member of', async () => {
    const team = await teamOwner(app);
    const { device_code, user_code } = await beginLogin(app);
    for (const organization_id of [team.organizationId, 999_999_999]) {
      await decide(ada, user_code, 'approve', { organization_id }).expect(404, {
        error: { message: 'organization not found' },
      });
    }
    await decide(ada, user_code, 'approve', { organization_id: 'x' }).expect(400);
    expect(await poll(app, device_code)).toBe('429 authorization_pending');
  });

  it('gives the key to the personal organization by default', async () => {
    const owner = await personalOwner(app);
    for (const body of [
      undefined,
      {},
      { organization_id: null },
      { organization_id: owner.organizationId },
    ]) {
      const { device_code, user_code } = await beginLogin(app);
      await decide(owner.admin, user_code, 'approve', body).expect(200);
      const answer = await poll(app, device_code);
      const known = await app.app.get(KeyAuthenticator).authenticate(answer.slice(4));
      expect(known).toMatchObject({ organizationId: owner.organizationId, userId: owner.user });
    }
  });

  it('lets exactly one of concurrent approvals and denials win, 200 times, and the poll agrees', async () => {
    for (let batch = 0; batch < 10; batch++) {
      await inParallel(20, async (i) => {
        const { device_code, user_code } = await beginLogin(app);
        const approve = () => decide(ada, user_code, 'approve');
        const deny = () => decide(ada, user_code, 'deny');
        const [first, second] = await Promise.all(i % 2 ? [approve(), deny()] : [deny(), approve()]);
        const won = [first, second].find(({ status }) => status === 200)!;
        const lost = [first, second].find(({ status }) => status === 404)!;
        expect(lost.body).toEqual(INVALID_USER_CODE);
        const answer = await poll(replica, device_code);
        if (won.body.status === 'approved') expect(answer).toMatch(KEY);
        else expect(answer).toBe('400 access_denied');
      });
    }
  });
});

describe('the limit of wrong codes', () => {
  const look = (agent: typeof ada, code: string, address = '127.0.0.1') =>
    agent.get(`/me/device-requests/${code}`).set('X-Forwarded-For', address);

  it('blocks a user after ten wrong codes, from any address, on every replica and even for right codes', async () => {
    const guesser = await app.as('guesser');
    const { user_code } = await beginLogin(app);
    for (let i = 0; i < 10; i++) {
      if (i === 5) await decide(guesser, 'malformed', 'approve').expect(404);
      else if (i === 6) await decide(guesser, UNKNOWN_CODE, 'deny').expect(404);
      else await look(guesser, UNKNOWN_CODE, `192.0.2.${i}`).expect(404);
      if (i < 9) await look(guesser, user_code).expect(200); // right codes do not count
    }
    const session = await sessionFor('guesser');
    const refused = await replica.anonymous
      .get(`/me/device-requests/${user_code}`)
      .set('Authorization', `Bearer ${session}`)
      .expect(429);
    expect(refused.body).toEqual({ error: { type: 'rate_limited', message: expect.any(String) } });
    const retryAfter = Number(refused.headers['retry-after']);
    expect(retryAfter).toBeGreaterThan(540);
    expect(retryAfter).toBeLessThanOrEqual(600);
    await app.app.get(DeviceExpiry).run();
    await decide(guesser, user_code, 'approve').expect(429);
    await look(ada, user_code, '192.0.2.200').expect(200);
    await app.database.query('UPDATE rate_limits SET resets_at = clock_timestamp()');
    await decide(guesser, user_code, 'approve').expect(200);
  });

  it('accepts at most ten of many concurrent guesses', async () => {
    const guesser = await app.as('parallel-guesser');
    await guesser.get('/me/projects').expect(200);
    const answers = await inParallel(50, () => look(guesser, UNKNOWN_CODE));
    expect(tally(answers.map(({ status }) => status))).toEqual({ 404: 10, 429: 40 });
  });

  it('blocks an address after 30 wrong codes by any users', async () => {
    const { user_code } = await beginLogin(app);
    for (let i = 0; i < 30; i++) {
      const guesser = await app.as(`guesser-${i % 4}`);
      await look(guesser, UNKNOWN_CODE, '2001:db8::1').expect(404);
    }
    const fresh = await app.as('guesser-fresh');
    await look(fresh, user_code, '2001:db8::2').expect(429);
    await look(fresh, user_code, '2001:db8:0:1::2').expect(200);
  });

  it('does not count the guesses of a blocked user for others at the same address', async () => {
    const [guesser, colleague] = [await app.as('obstinate'), await app.as('colleague')];
    const { user_code } = await beginLogin(app);
    const answers = await inParallel(40, () => look(guesser, UNKNOWN_CODE, '192.0.2.77'));
    expect(tally(answers.map(({ status }) => status))).toEqual({ 404: 10, 429: 30 });
    for (let i = 0; i < 9; i++) await look(colleague, UNKNOWN_CODE, '192.0.2.77').expect(404);
    await look(colleague, user_code, '192.0.2.77').expect(200);
  });

  it('does not count a code that another decision used first', async () => {
    const loser = await app.as('loser');
    for (let i = 0; i < 15; i++) {
      const { user_code } = await beginLogin(app);
      await decide(ada, user_code, 'deny').expect(200);
      await decide(loser, user_code, 'approve').expect(404);
    }
    const { user_code } = await beginLogin(app);
    await decide(loser, user_code, 'approve').expect(200);
  });
});

/** Inserts sessions and rate limits that end after the interval `overIn`, and updates the statistics of PostgreSQL. */
async function fill(count: number, state: string, overIn: string): Promise<void> {
  await app.database.query(
    `INSERT INTO device_sessions (device_code_sha256, user_code_hmac, state, expires_at)
     SELECT sha256((i || $3)::bytea), sha256((i || $3)::bytea), $2, now() + $3::interval
     FROM generate_series(1, $1::int) AS i`,
    [count, state, overIn],
  );
  await app.database.query(
    `INSERT INTO rate_limits (key, hits, resets_at)
     SELECT i || $2, 1, now() + $2::interval FROM generate_series(1, $1::int) AS i`,
    [count, overIn],
  );
  await app.database.query('ANALYZE device_sessions, rate_limits');
}

describe('the job that removes expired rows', () => {
  let job: Awaited<ReturnType<typeof holdBackJob>>;

  beforeAll(async () => {
    job = await holdBackJob(app.database, 'clear_device_sessions');
  });
  afterAll(() => job.end());
  afterEach(() => app.database.query('DELETE FROM device_sessions'));

  it('changes no response while a device may poll, and keeps genuine codes distinguishable forever', async () => {
    const logins = await inParallel(6, () => beginLogin(app));
    const [pending, old, denied, approved, consumed, fresh] = logins.map((login) => login);
    await decide(ada, denied!.user_code, 'deny').expect(200);
    await decide(ada, approved!.user_code, 'approve').expect(200);
    await decide(ada, consumed!.user_code, 'approve').expect(200);
    expect(await poll(app, consumed!.device_code)).toMatch(KEY);
    await letPass(app, 610);
    await app.database.query(
      `UPDATE device_sessions SET expires_at = expires_at + interval '10 minutes' WHERE device_code_sha256 = sha256($1::bytea)`,
      [Buffer.from(fresh!.device_code)],
    );
    const expectedTypes = (denied: string) => [
      'expired_token',
      'expired_token',
      denied,
      'expired_token',
      'expired_token',
    ];
    for (const seconds of [0, 600, 3_000, 86_400]) {
      if (seconds > 0) {
        await app.database.query(
          `UPDATE device_sessions SET expires_at = expires_at - make_interval(secs => $1) WHERE device_code_sha256 <> sha256($2::bytea)`,
          [seconds, Buffer.from(fresh!.device_code)],
        );
      }
      await Promise.all([app.app.get(DeviceExpiry).run(), replica.app.get(DeviceExpiry).run()]);
      const given = await Promise.all(
        [pending, old, denied, approved, consumed].map((login) => poll(app, login!.device_code)),
      );
      const expected = expectedTypes(seconds < 3_000 ? 'access_denied' : 'expired_token');
      expect(given).toEqual(expected.map((type) => `400 ${type}`));
    }
    const left = await app.database.query<{ state: string }>('SELECT state FROM device_sessions');
    expect(left).toEqual([{ state: 'pending' }]);
    expect(await app.database.query('SELECT FROM rate_limits WHERE resets_at < now()')).toEqual([]);
    await decide(ada, fresh!.user_code, 'deny').expect(200);
  });

  it('does not scan rows that have not expired', async () => {
    await fill(20_000, 'pending', '5 minutes');
    const all = await plansOf(app, () => app.app.get(DeviceExpiry).run());
    const plans = all.filter((plan) => /device_sessions|rate_limits/.test(plan)); // other jobs may run meanwhile
    expect(plans).toHaveLength(3);
    for (const plan of plans) expect(plan).not.toContain('Seq Scan');
  });

  it.each([
    ['expires sessions', 'UPDATE', 'device_sessions', '-5 minutes'],
    ['purges sessions', 'DELETE', 'device_sessions', '-61 minutes'],
    ['removes rate limits', 'DELETE', 'rate_limits', '-5 minutes'],
  ] as const)(
    '%s in statements that each change a bounded number of rows',
    async (_what, how, table, since) => {
      await fill(20_001, 'pending', since);
      await limitRows(app.database, how, table);
      await app.app.get(DeviceExpiry).run();
      await unlimitRows(app.database);
      expect(await app.database.query(`SELECT FROM device_sessions WHERE state = 'pending'`)).toEqual([]);
      expect(await app.database.query('SELECT FROM rate_limits')).toEqual([]);
    },
  );

  it('runs the other statements if one fails, and reports the failure', async () => {
    await fill(1, 'pending', '-5 minutes');
    await fill(20_000, 'denied', '-61 minutes');
    await app.database.query(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not now'; END $$;
      CREATE TRIGGER refuse BEFORE DELETE ON device_sessions EXECUTE FUNCTION refuse();`);
    await expect(app.app.get(DeviceExpiry).run()).rejects.toThrow('not now');
    await app.database.query('DROP FUNCTION refuse CASCADE');
    expect(await app.database.query(`SELECT FROM device_sessions WHERE state = 'pending'`)).toEqual([]);
    expect(await app.database.query('SELECT FROM rate_limits')).toEqual([]);
  });
});

it('accepts codes from before an encryption key was rotated', async () => {
  const { device_code, user_code } = await beginLogin(app);
  const variables = testVariables(app.database.url, app.dataDir);
  const ENCRYPTION_KEYS = `${Buffer.alloc(32, 2).toString('base64')},${variables.ENCRYPTION_KEYS}`;
  const rotated = await setupApp(parseSettings({ ...variables, ENCRYPTION_KEYS }), app.database.url);
  try {
    const anonymous = supertest.agent(await rotated.listen(0, '127.0.0.1'));
    const agent = supertest
      .agent(rotated.getHttpServer())
      .set('Authorization', `Bearer ${await sessionFor('ada')}`);
    const codes = jest.spyOn(rotated.get(UserCodes), 'generate').mockReturnValueOnce(user_code);
    expect((await beginLogin({ anonymous })).user_code).not.toBe(user_code);
    expect(codes).toHaveBeenCalledTimes(2);
    await decide(agent, user_code, 'approve').expect(200);
    expect(await poll({ anonymous }, device_code)).toMatch(KEY);
  } finally {
    await rotated.close();
  }
});

describe('a full run', () => {
  let service: Service;
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createDatabase();
    service = await startService(database.url, app.dataDir, { LOG_LEVEL: 'trace' });
  });
  afterAll(async () => {
    await service.end('SIGTERM');
    await database.drop();
  });

  it('stores and logs no code, key or token in plain text', async () => {
    const anonymous = supertest.agent(service.url);
    const session = await sessionFor('ada');
    const [login, failing] = [
      await beginLogin({ anonymous }, { name: 'CLI' }),
      await beginLogin({ anonymous }),
    ];
    await poll({ anonymous }, login.device_code);
    const browser = await TestBrowser.of({ anonymous, url: service.url }, 'ada');
    const csrf_token = await browser.csrfToken(login.user_code);
    await browser.submit('approve', { user_code: login.user_code, csrf_token }).expect(200);
    const answer = await poll({ anonymous }, login.device_code);
    expect(answer).toMatch(KEY);
    await anonymous.get(`/auth/device?user_code=${failing.user_code}`).expect(401);
    await browser.submit('approve', { user_code: failing.user_code, csrf_token }).expect(200);
    await database.query('ALTER TABLE proxy_keys ADD CONSTRAINT no_more CHECK (id < 0) NOT VALID');
    expect(await poll({ anonymous }, failing.device_code)).toBe('500 undefined');
    const code = login.user_code;
    const secrets = [
      ...[login.device_code, failing.device_code, code, failing.user_code, code.replace('-', '')],
      ...[answer.slice(4), session, csrf_token],
    ];
    await service.end('SIGTERM'); // the log is buffered, and complete only then
    const rows = await dump(database);
    expect(rows).toContain('CLI'); // the dump is not empty
    expect(service.output()).toContain('unexpected failure'); // the logs are not empty
    for (const secret of secrets) {
      expect(rows).not.toContain(secret);
      expect(rows).not.toContain(Buffer.from(secret).toString('hex'));
      expect(service.output()).not.toContain(secret);
    }
  });
});
