import { jest } from '@jest/globals';
import { isKeySecret } from '../../src/keys/key-format.js';
import { KeyUsage } from '../../src/keys/key-usage.js';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { connect } from '../support/database.js';
import { join, personalOwner, teamOwner } from '../support/owners.js';

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const typed = (type: string) => ({ error: { type, message: expect.any(String) } });
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();

let app: TestApp;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

it('writes the time of last use once a minute on all replicas together', async () => {
  const replica = await startApp({}, { database: app.database });
  const { admin } = await personalOwner(app);
  const { body: key } = await admin.post('/me/keys').expect(201);
  const first = Date.now();
  const clock = jest.spyOn(Date, 'now');
  const lastUse = async (by: TestApp, afterMs: number) => {
    const usage = by.app.get(KeyUsage);
    clock.mockReturnValue(first + afterMs);
    usage.recordUse(key.id);
    await usage.flush();
    const { body } = await admin.get('/me/keys').expect(200);
    return Date.parse(body.keys[0].last_used_at) - first;
  };
  try {
    expect(await lastUse(app, 0)).toBe(0);
    expect(await lastUse(replica, 59_999)).toBe(0);
    expect(await lastUse(replica, 60_000)).toBe(60_000);
    expect(await lastUse(app, 119_999)).toBe(60_000);
    expect(await lastUse(app, 120_000)).toBe(120_000);
  } finally {
    clock.mockRestore();
    await replica.close();
  }
});

it('skips a locked key when writing the time of last use, and writes it later', async () => {
  const { admin } = await personalOwner(app);
  const { body: key } = await admin.post('/me/keys').expect(201);
  const holder = await connect(app.database);
  await holder.query('BEGIN');
  await holder.query('SELECT FROM proxy_keys WHERE id = $1 FOR UPDATE', [key.id]);
  const used = async () => {
    const usage = app.app.get(KeyUsage);
    usage.recordUse(key.id);
    await usage.flush();
    return (await admin.get('/me/keys').expect(200)).body.keys[0].last_used_at as string | null;
  };
  expect(await used()).toBeNull();
  await holder.end();
  expect(await used()).not.toBeNull();
});

describe('mint', () => {
  it.each([
    ['without a body', undefined],
    ['with an empty object', {}],
    ['with nulls', { name: null, organization_id: null, expires_at: null }],
  ])('%s creates a key of the personal organization', async (_how, body) => {
    const person = await personalOwner(app);
    const request = person.admin.post('/me/keys');
    const { body: key, headers } = await (body ? request.send(body) : request).expect(201);
    expect(headers['cache-control']).toBe('no-store');
    expect(isKeySecret(key.api_key)).toBe(true);
    expect(key).toEqual({
      id: expect.any(Number),
      name: expect.any(String),
      organization_id: person.organizationId,
      user_id: person.user,
      user_email: `${person.user}@example.com`,
      prefix: key.api_key.slice(0, 7),
      last4: key.api_key.slice(-4),
      source: 'dashboard',
      device: null,
      created_at: expect.stringMatching(ISO_TIME),
      last_used_at: null,
      expires_at: null,
      revoked_at: null,
      revoked_reason: null,
      api_key: key.api_key,
    });
    const { api_key: _, ...listed } = key;
    await person.admin.get('/me/keys').expect(200, { keys: [listed] });
  });

  it('returns the key once and stores only its hash', async () => {
    const person = await personalOwner(app);
    const { body } = await person.admin.post('/me/keys').send({ name: ' laptop ' }).expect(201);
    expect(body.name).toBe('laptop');
    const rows = await app.database.query('SELECT to_jsonb(k) AS row FROM proxy_keys k');
    expect(JSON.stringify(rows)).not.toContain(body.api_key.slice(7, 39));
    expect((await person.admin.get('/me/keys')).text).not.toContain('api_key');
  });

  it('allows every member to mint a team key at both addresses', async () => {
    const team = await teamOwner(app);
    const member = await join(app, team, 'minter', 'member');
    const { body: one } = await member
      .post('/me/keys')
      .send({ organization_id: team.organizationId })
      .expect(201);
    const { body: other } = await member
      .post(`${team.base}/keys`)
      .expect(201)
      .expect('Cache-Control', 'no-store');
    expect([one.organization_id, other.organization_id]).toEqual([team.organizationId, team.organizationId]);
  });

  it.each([
    [{ name: '' }, 'invalid_name'],
    [{ name: 7 }, 'invalid_name'],
    [{ name: 'x'.repeat(256) }, 'invalid_name'],
    [{ expires_at: 'tomorrow' }, 'invalid_expires_at'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, 'invalid_expires_at'],
    [{ expires_at: '2999-13-01T00:00:00Z' }, 'invalid_expires_at'],
    [{ expires_at: '2999-02-30T00:00:00Z' }, 'invalid_expires_at'],
    [{ expires_at: '2999-01-01' }, 'invalid_expires_at'],
    [{ expires_at: 4102444800 }, 'invalid_expires_at'],
  ])('rejects %j', async (body, type) => {
    const person = await personalOwner(app);
    expect((await person.admin.post('/me/keys').send(body).expect(400)).body).toEqual(typed(type));
  });

  it.each([['1'], [-1], [1.5], [1e15], [{}]])('rejects %j as an organization', async (id) => {
    const { body } = await (await app.as('ann')).post('/me/keys').send({ organization_id: id }).expect(400);
    expect(body).toEqual({ error: { message: expect.any(String) } });
  });

  it('is 404 for non-members of the organization', async () => {
    const team = await teamOwner(app);
    const stranger = await app.as('stranger');
    for (const id of [team.organizationId, 999_999]) {
      const { body } = await stranger.post('/me/keys').send({ organization_id: id }).expect(404);
      expect(body).toEqual({ error: { message: 'organization not found' } });
    }
  });

  it('converts the time zone of an expiry', async () => {
    const { body } = await (
      await app.as('ann')
    )
      .post('/me/keys')
      .send({ expires_at: '2999-01-01T02:00:00+02:00' });
    expect(body.expires_at).toBe('2999-01-01T00:00:00.000Z');
    const far = await (
      await app.as('ann')
    )
      .post('/me/keys')
      .send({ expires_at: '2999-01-01T20:00:00+20:00' });
    expect(far.body.expires_at).toBe('2999-01-01T00:00:00.000Z');
  });
});

describe('a key', () => {
  it('can be renamed by its holder, but keeps its organization', async () => {
    const team = await teamOwner(app);
    const person = await personalOwner(app);
    const { body: key } = await person.admin.post('/me/keys').send({ name: 'old' });
    const url = `/me/keys/${key.id}`;
    const { body } = await person.admin
      .put(url)
      .send({ name: 'new', organization_id: key.organization_id })
      .expect(200);
    expect(body.name).toBe('new');
    const refused = await person.admin
      .put(url)
      .send({ name: 'x', organization_id: team.organizationId })
      .expect(400);
    expect(refused.body).toEqual(typed('scope_immutable'));
    await person.admin.put(url).send({ name: '' }).expect(400);
    await team.admin
      .put(url)
      .send({ name: 'mine' })
      .expect(404, { error: { message: 'not found' } });
    expect((await person.admin.get('/me/keys')).body.keys[0].name).toBe('new');
  });

  it('cannot be renamed by a former member', async () => {
    const team = await teamOwner(app);
    const joe = await join(app, team, 'renamer', 'member');
    const { body: key } = await joe.post(`${team.base}/keys`).send({ name: 'laptop' }).expect(201);
    await team.admin.delete(`${team.base}/members/renamer`).expect(200);
    for (const fields of [{ name: 'mine' }, {}])
      await joe
        .put(`/me/keys/${key.id}`)
        .send(fields)
        .expect(404, { error: { message: 'organization not found' } });
    const { body } = await team.admin.get(`${team.base}/keys`).query({ include_revoked: true }).expect(200);
    expect(body.keys).toMatchObject([{ id: key.id, name: 'laptop' }]);
  });

  it('is revoked once and stays on record', async () => {
    const person = await personalOwner(app);
    const { body: key } = await person.admin.post('/me/keys').send({ name: 'k' });
    await (await app.as('stranger')).delete(`/me/keys/${key.id}`).expect(404);
    await person.admin.delete(`/me/keys/${key.id}`).expect(204, '');
    await person.admin.get('/me/keys').expect(200, { keys: [] });
    const revoked = async () => (await person.admin.get('/me/keys?include_revoked=true')).body.keys[0];
    const first = await revoked();
    expect(first).toMatchObject({ revoked_at: expect.stringMatching(ISO_TIME), revoked_reason: 'revoked' });
    await person.admin.delete(`/me/keys/${key.id}`).expect(204);
    expect(await revoked()).toEqual(first);
  });

  it('is not listed with include_revoked=false once revoked', async () => {
    const person = await personalOwner(app);
    const { body: key } = await person.admin.post('/me/keys');
    await person.admin.delete(`/me/keys/${key.id}`).expect(204);
    await person.admin.get('/me/keys?include_revoked=false').expect(200, { keys: [] });
  });

  it.each(['', '1', 'TRUE', 'true&include_revoked=true'])(
    'is not listed with include_revoked=%s',
    async (value) => {
      const team = await teamOwner(app);
      for (const list of ['/me/keys', `${team.base}/keys`])
        await team.admin
          .get(`${list}?include_revoked=${value}`)
          .expect(400, { error: { message: 'include_revoked must be true or false' } });
    },
  );
});

describe('the keys of a team', () => {
  it('are all visible to admins, and to members only their own', async () => {
    const team = await teamOwner(app);
    const [uma, vic] = [await join(app, team, 'uma', 'member'), await join(app, team, 'vic', 'member')];
    const { body: umas } = await uma.post(`${team.base}/keys`);
    const { body: vics } = await vic.post(`${team.base}/keys`);
    const ids = async (agent: typeof uma) =>
      (await agent.get(`${team.base}/keys`).expect(200)).body.keys.map((key: { id: number }) => key.id);
    expect(await ids(team.admin)).toEqual([umas.id, vics.id]);
    expect(await ids(uma)).toEqual([umas.id]);
    await uma.delete(`${team.base}/keys/${vics.id}`).expect(404);
    await uma.delete(`${team.base}/keys/${umas.id}`).expect(204);
    await team.admin.delete(`${team.base}/keys/${vics.id}`).expect(204);
    const { keys } = (await vic.get('/me/keys?include_revoked=true')).body;
    expect(keys[0].revoked_reason).toBe('revoked_by_admin');
  });

  it('are revoked and counted with the membership; other keys stay', async () => {
    const team = await teamOwner(app);
    for (const [user, leave] of [
      ['wes', '/members/me'],
      ['xia', '/members/xia'],
    ] as const) {
      const agent = await join(app, team, user, 'member');
      const { body: personal } = await agent.post('/me/keys');
      for (let i = 0; i < 3; i++) await agent.post(`${team.base}/keys`).expect(201);
      const { body: revoked } = await agent.post(`${team.base}/keys`);
      await agent.delete(`/me/keys/${revoked.id}`).expect(204);
      const by = user === 'wes' ? agent : team.admin;
      await by.delete(team.base + leave).expect(200, { status: 'removed', revoked_keys: 3 });
      expect((await agent.get('/me/keys')).body.keys.map((key: { id: number }) => key.id)).toEqual([
        personal.id,
      ]);
    }
  });

  it('are revoked for all members with the organization, with an exact count', async () => {
    const team = await teamOwner(app);
    const agent = await join(app, team, 'yan', 'member');
    await agent.post(`${team.base}/keys`);
    await team.admin.post(`${team.base}/keys`);
    await team.admin.delete(team.base).expect(200, { status: 'deleted', revoked_keys: 2 });
    const { keys } = (await agent.get('/me/keys?include_revoked=true')).body;
    expect(keys[0]).toMatchObject({
      organization_id: team.organizationId,
      revoked_reason: 'organization_deleted',
    });
  });

  it('cannot be minted after a concurrent removal', async () => {
    const team = await teamOwner(app);
    for (let round = 0; round < 15; round++) {
      const user = `zed-${round}`;
      const agent = await join(app, team, user, 'member');
      const [gone, ...minted] = await Promise.all([
        team.admin.delete(`${team.base}/members/${user}`),
        ...[1, 2, 3, 4].map(() => agent.post(`${team.base}/keys`)),
      ]);
      const made = minted.filter(({ status }) => status === 201).length;
      expect(minted.every(({ status }) => status === 201 || status === 404)).toBe(true);
      expect(gone.body.revoked_keys).toBe(made);
      expect((await agent.get('/me/keys')).body.keys).toEqual([]);
    }
  });

  it('can be revoked while the organization is deleted', async () => {
    for (let round = 0; round < 10; round++) {
      const team = await teamOwner(app);
      const keys = [];
      for (let i = 0; i < 3; i++) keys.push((await team.admin.post(`${team.base}/keys`)).body.id);
      const [deleted, ...revoked] = await Promise.all([
        team.admin.delete(team.base),
        ...keys.map((id) => team.admin.delete(`/me/keys/${id}`)),
      ]);
      expect(deleted.status).toBe(200);
      expect(revoked.map(({ status }) => status)).toEqual([204, 204, 204]);
    }
  });

  it('appear in the audit trail when minted and revoked, without the secret', async () => {
    const team = await teamOwner(app);
    const { body: key } = await team.admin.post(`${team.base}/keys`).send({ name: 'ci' });
    await team.admin.delete(`${team.base}/keys/${key.id}`).expect(204);
    const { body, text } = await team.admin.get(`${team.base}/audit?limit=2`).expect(200);
    expect(body.events.map(({ action }: { action: string }) => action)).toEqual([
      'key.revoked',
      'key.minted',
    ]);
    expect(body.events[1].target).toEqual({ type: 'key', id: key.id, name: 'ci', user_id: team.user });
    expect(text).not.toContain(key.api_key);
  });
});

it('keeps an expiry in the future', async () => {
  const expires_at = inAnHour();
  const { body } = await (await app.as('ann')).post('/me/keys').send({ expires_at }).expect(201);
  expect(body.expires_at).toBe(expires_at);
});

it('updates the time of last use without index changes (HOT update)', async () => {
  const person = await personalOwner(app);
  await app.database.query(
    `INSERT INTO proxy_keys (organization_id, user_id, name, secret_sha256, prefix, last4, source)
     SELECT $1, $2, 'k', sha256(i::text::bytea), 'mk_aaaa', 'zzzz', 'dashboard' FROM generate_series(1, 500) AS i`,
    [person.organizationId, person.user],
  );
  const pages = () =>
    app.database.query<{ id: number; page: string; used: boolean }>(
      `SELECT id::int, split_part(ctid::text, ',', 1) AS page, last_used_at IS NOT NULL AS used
       FROM proxy_keys WHERE user_id = $1 AND id % 10 = 0 ORDER BY id`,
      [person.user],
    );
  const before = await pages();
  const usage = app.app.get(KeyUsage);
  for (const { id } of before) usage.recordUse(id);
  await usage.flush();
  expect(await pages()).toEqual(before.map((row) => ({ ...row, used: true })));
});
