import { readdir } from 'node:fs/promises';
import { join as joinPath } from 'node:path';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { join, personalOwner, teamOwner } from '../support/owners.js';

let app: TestApp;
let count = 0;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const slug = () => `team-${++count}`;
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const typed = (type: string) => ({ error: { type, message: expect.any(String) } });

describe('creating', () => {
  it('makes the caller its admin', async () => {
    const ann = await app.as('ann');
    const { body } = await ann.post('/me/organizations').send({ name: ' Acme ', slug: 'acme' }).expect(201);
    expect(body).toEqual({
      id: expect.any(Number),
      name: 'Acme',
      slug: 'acme',
      kind: 'team',
      role: 'admin',
      member_count: 1,
      created_at: expect.stringMatching(ISO_TIME),
      updated_at: body.created_at,
    });
    await ann.get(`/me/organizations/${body.id}`).expect(200, body);
    const { body: list } = await ann.get('/me/organizations').expect(200);
    expect(list.organizations).toEqual([
      expect.objectContaining({ kind: 'personal', slug: null, role: 'admin' }),
      body,
    ]);
  });

  it.each([
    [{ slug: 'x' }, 'invalid_name'],
    [{ name: ' ', slug: 'x' }, 'invalid_name'],
    [{ name: 'x' }, 'invalid_slug'],
    [{ name: 'x', slug: 'X' }, 'invalid_slug'],
    [{ name: 'x', slug: 'x\n' }, 'invalid_slug'],
    [{ name: 'x', slug: 7 }, 'invalid_slug'],
  ])('refuses %j', async (body, type) => {
    const { body: answer } = await (await app.as('ann')).post('/me/organizations').send(body).expect(400);
    expect(answer).toEqual(typed(type));
  });

  it('refuses a slug that somebody has', async () => {
    const taken = slug();
    await (await app.as('ann')).post('/me/organizations').send({ name: 'a', slug: taken }).expect(201);
    for (const user of ['ann', 'bob']) {
      const { body } = await (
        await app.as(user)
      )
        .post('/me/organizations')
        .send({ name: 'b', slug: taken })
        .expect(409);
      expect(body).toEqual(typed('slug_taken'));
    }
    expect((await (await app.as('bob')).get('/me/organizations')).body.organizations).toHaveLength(1);
  });
});

describe('renaming', () => {
  it('changes the name and nothing else', async () => {
    const team = await teamOwner(app);
    const { body: before } = await team.admin.get(team.base);
    const { body: after } = await team.admin
      .put(team.base)
      .send({ name: ' New ', slug: before.slug })
      .expect(200);
    expect(after).toEqual({ ...before, name: 'New', updated_at: after.updated_at });
    expect(after.updated_at > before.updated_at).toBe(true);
    await team.admin.put(team.base).send({}).expect(200);
  });

  it.each([
    [{ slug: 'another' }, 'invalid_slug'],
    [{ slug: 'Not A Slug' }, 'invalid_slug'],
    [{ slug: 7 }, 'invalid_slug'],
    [{ name: '' }, 'invalid_name'],
  ])('refuses %j', async (body, type) => {
    const team = await teamOwner(app);
    expect((await team.admin.put(team.base).send(body).expect(400)).body).toEqual(typed(type));
  });
});

describe('a personal organization', () => {
  it('cannot be renamed, left, deleted or invited to', async () => {
    const person = await personalOwner(app);
    const url = `/me/organizations/${person.organizationId}`;
    const refused = typed('personal_organization');
    expect((await person.admin.put(url).send({ name: 'x' }).expect(409)).body).toEqual(refused);
    expect((await person.admin.delete(url).expect(409)).body).toEqual(refused);
    expect((await person.admin.delete(url).set('X-Confirm-Slug', 'x').expect(409)).body).toEqual(refused);
    expect((await person.admin.delete(`${url}/members/me`).expect(409)).body).toEqual(refused);
    const own = { email: `${person.user}@example.com`, role: 'member' };
    expect((await person.admin.post(`${url}/invite`).send(own).expect(409)).body).toEqual(refused);
    expect((await person.admin.get(`${url}/members`).expect(200)).body.members).toHaveLength(1);
  });

  it("has its user's projects at both addresses", async () => {
    const person = await personalOwner(app);
    const { body: project } = await person.admin.post('/me/projects').send({ name: 'Mine' });
    const url = `/me/organizations/${person.organizationId}/projects`;
    await person.admin.get(url).expect(200, { projects: [project] });
    await (await app.as('somebody')).get(url).expect(404);
  });
});

describe('deleting', () => {
  it('takes everything along, and the bodies', async () => {
    const team = await teamOwner(app);
    const member = await join(app, team, 'mel', 'member');
    const { body: project } = await team.admin.post(`${team.base}/projects`).send({ name: 'p' });
    const documents = `${team.base}/projects/${project.id}/documents`;
    const { body: document } = await team.admin.post(documents).send({ title: 't', slug: 's', content: 'c' });
    await member.delete(team.base).expect(403);
    await team.admin.delete(team.base).expect(200, { status: 'deleted', revoked_keys: 0 });
    for (const agent of [team.admin, member]) {
      await agent.get(team.base).expect(404, { error: { message: 'organization not found' } });
      await agent.get(`${documents}/${document.id}`).expect(404);
    }
    expect(await readdir(joinPath(app.dataDir, 'objects', 'documents'))).not.toContain(String(document.id));
    const id = team.organizationId;
    for (const table of ['projects', 'documents', 'memberships', 'audit_events']) {
      expect(await app.database.query(`SELECT 1 FROM ${table} WHERE organization_id = $1`, [id])).toEqual([]);
    }
  });

  it.each([
    ['', 409],
    ['TEAM', 409],
    ['another', 409],
  ])('is not confirmed by %j', async (confirmation, status) => {
    const team = await teamOwner(app);
    const { body } = await team.admin.delete(team.base).set('X-Confirm-Slug', confirmation).expect(status);
    expect(body).toEqual(typed('slug_mismatch'));
    await team.admin.get(team.base).expect(200);
  });

  it('is confirmed by the slug, or by nothing at all', async () => {
    const team = await teamOwner(app);
    const { slug: exact } = (await team.admin.get(team.base)).body;
    await team.admin.delete(team.base).set('X-Confirm-Slug', exact.toUpperCase()).expect(409);
    await team.admin.delete(team.base).set('X-Confirm-Slug', exact).expect(200);
  });

  it('reserves the slug for whoever performed the latest deletion', async () => {
    const [ann, bob, eve] = [await app.as('ann'), await app.as('bob'), await app.as('eve')];
    const reserved = slug();
    const create = (agent: typeof ann) =>
      agent.post('/me/organizations').send({ name: 'Again', slug: reserved });
    const { body: first } = await create(ann).expect(201);
    await ann.delete(`/me/organizations/${first.id}`).expect(200);
    for (const agent of [bob, eve])
      expect((await create(agent).expect(409)).body).toEqual(typed('slug_taken'));
    const { body: second } = await create(ann).expect(201);
    const team = {
      base: `/me/organizations/${second.id}`,
      organizationId: second.id,
      user: 'ann',
      admin: ann,
    };
    await join(app, team, 'bob', 'admin');
    await bob.delete(team.base).expect(200);
    await create(ann).expect(409);
    await create(eve).expect(409);
    await create(bob).expect(201);
  });
});

it('an organization that is not the caller’s looks like one that does not exist', async () => {
  const team = await teamOwner(app);
  const stranger = await app.as('stranger');
  for (const [method, path] of [
    ['get', ''],
    ['put', ''],
    ['delete', ''],
    ['get', '/members'],
    ['get', '/projects'],
    ['post', '/invite'],
    ['get', '/audit'],
    ['get', '/keys'],
  ] as const) {
    const [there, nowhere] = await Promise.all(
      [team.base, '/me/organizations/999999'].map((base) => stranger[method](base + path).expect(404)),
    );
    const strip = ({ date: _d, 'x-request-id': _x, ...headers }: Record<string, unknown>) => headers;
    expect(there!.body).toEqual(nowhere!.body);
    expect(strip(there!.headers)).toEqual(strip(nowhere!.headers));
  }
});

describe('members', () => {
  it('are listed in the order they joined, for every member', async () => {
    const team = await teamOwner(app);
    const zoe = await join(app, team, 'zoe', 'member');
    await join(app, team, 'amy', 'admin');
    const { body } = await zoe.get(`${team.base}/members`).expect(200);
    expect(body.members.map(({ user_id, role }: Record<string, string>) => [user_id, role])).toEqual([
      [team.user, 'admin'],
      ['zoe', 'member'],
      ['amy', 'admin'],
    ]);
    expect(body.members[1]).toEqual({
      user_id: 'zoe',
      email: 'zoe@example.com',
      role: 'member',
      joined_at: expect.stringMatching(ISO_TIME),
    });
    expect((await zoe.get(team.base)).body.member_count).toBe(3);
  });

  it('change roles by admins, and an admin always remains', async () => {
    const team = await teamOwner(app);
    const pat = await join(app, team, 'pat', 'member');
    const url = (user: string) => `${team.base}/members/${user}`;
    await pat.put(url('pat')).send({ role: 'admin' }).expect(403);
    const { body } = await team.admin.put(url('pat')).send({ role: 'admin' }).expect(200);
    expect(body).toMatchObject({ user_id: 'pat', role: 'admin' });
    await team.admin.put(url('me')).send({ role: 'member' }).expect(200);
    await team.admin.put(url('pat')).send({ role: 'member' }).expect(403);
    for (const answer of [
      pat.put(url('me')).send({ role: 'member' }),
      pat.delete(url('me')),
      pat.delete(url('pat')),
    ]) {
      expect((await answer.expect(409)).body).toEqual(typed('last_admin'));
    }
    await pat.put(url('me')).send({ role: 'admin' }).expect(200);
    await pat
      .put(url('nobody'))
      .send({ role: 'admin' })
      .expect(404, { error: { message: 'not found' } });
    for (const role of ['owner', '', null, 7, undefined]) {
      expect((await pat.put(url('pat')).send({ role }).expect(400)).body).toEqual(typed('invalid_role'));
    }
  });

  it('leave by themselves and are removed by admins, and are out at once', async () => {
    const team = await teamOwner(app);
    const [kim, lee, max] = await Promise.all(
      ['kim', 'lee', 'max'].map((user) => join(app, team, user, 'member')),
    );
    const { body } = await kim!.delete(`${team.base}/members/lee`).expect(403);
    expect(body.error.message).toBe('only admins can remove members');
    await kim!.delete(`${team.base}/members/nobody`).expect(403);
    await team.admin.delete(`${team.base}/members/nobody`).expect(404);
    await kim!.delete(`${team.base}/members/me`).expect(200, { status: 'removed', revoked_keys: 0 });
    await lee!.delete(`${team.base}/members/lee`).expect(200);
    await team.admin.delete(`${team.base}/members/max`).expect(200);
    for (const agent of [kim!, lee!, max!]) await agent.get(`${team.base}/members`).expect(404);
    expect((await team.admin.get(team.base)).body.member_count).toBe(1);
  });

  it('may have ids that need encoding', async () => {
    const team = await teamOwner(app);
    const user = 'auth0|5f/7@x%2F';
    await join(app, team, user, 'member');
    const url = `${team.base}/members/${encodeURIComponent(user)}`;
    expect((await team.admin.put(url).send({ role: 'admin' }).expect(200)).body.user_id).toBe(user);
    await team.admin.delete(url).expect(200);
  });
});
