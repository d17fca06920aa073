import { readdir } from 'node:fs/promises';
import { join as joinPath } from 'node:path';
import { DeletionQueue } from '../../src/storage/deletion-queue.js';
import { startApp } from '../support/app.js';
import type { Agent, TestApp } from '../support/app.js';
import { invite, join, personalOwner, teamOwner } from '../support/owners.js';
import type { TestOwner } from '../support/owners.js';

let app: TestApp;
let count = 0;

beforeAll(async () => {
  app = await startApp();
  app.app.get(DeletionQueue, { strict: false }).promptRemovalMs = 30_000; // what is left to the sweep would fail tests
});
afterAll(() => app.close());

const slug = () => `team-${++count}`;
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const typed = (type: string) => ({ error: { type, message: expect.any(String) } });

describe('POST /me/organizations', () => {
  it('makes the caller an admin', async () => {
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
    [{ name: 'x', slug: null }, 'invalid_slug'],
    [{ name: 'x', slug: '' }, 'invalid_slug'],
    [{ name: 'x', slug: ' x' }, 'invalid_slug'],
    [{ name: 'x', slug: '-x' }, 'invalid_slug'],
    [{ name: 'x', slug: 'x-' }, 'invalid_slug'],
    [{ name: 'x', slug: 'x_y' }, 'invalid_slug'],
    [{ name: 'x', slug: 'ü' }, 'invalid_slug'],
    [{ name: 'x', slug: 'x'.repeat(81) }, 'invalid_slug'],
    [{ name: 'x'.repeat(256), slug: 'x' }, 'invalid_name'],
    [{ name: 'x\0', slug: 'x' }, 'invalid_name'],
    [{ name: ['x'], slug: 'x' }, 'invalid_name'],
  ])('rejects %j', async (body, type) => {
    const { body: answer } = await (await app.as('ann')).post('/me/organizations').send(body).expect(400);
    expect(answer).toEqual(typed(type));
  });

  it.each(['7', 'a-b--c', 'x'.repeat(80)])('takes the slug %j', async (good) => {
    const { body } = await (
      await app.as('ann')
    )
      .post('/me/organizations')
      .send({ name: '👩‍👩‍👧'.repeat(51), slug: good, kind: 'personal', role: 'member', id: 1 })
      .expect(201);
    expect(body).toMatchObject({ slug: good, kind: 'team', role: 'admin', member_count: 1 });
  });

  it('rejects a slug that is taken', async () => {
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

describe('GET /me/organizations', () => {
  it('lists the organizations of the caller by id, with the role of the caller', async () => {
    await (await app.as('lou')).get('/me/organizations').expect(200);
    const [theirs, other] = [await teamOwner(app), await teamOwner(app)];
    const lou = await join(app, other, 'lou', 'admin');
    await join(app, theirs, 'lou', 'member');
    const { body } = await lou.get('/me/organizations').expect(200);
    expect(body.organizations).toMatchObject([
      { kind: 'personal', name: 'Personal', slug: null, role: 'admin', member_count: 1 },
      { id: theirs.organizationId, role: 'member', member_count: 2 },
      { id: other.organizationId, role: 'admin', member_count: 2 },
    ]);
    await lou.get(theirs.base).expect(200, body.organizations[1]);
    await theirs.admin.get(theirs.base).expect(200, { ...body.organizations[1], role: 'admin' });
  });
});

describe('PUT /me/organizations/:id', () => {
  it('changes only the name', async () => {
    const team = await teamOwner(app);
    const { body: before } = await team.admin.get(team.base);
    const { body: after } = await team.admin
      .put(team.base)
      .send({ name: ' New ', slug: before.slug })
      .expect(200);
    expect(after).toEqual({ ...before, name: 'New', updated_at: after.updated_at });
    expect(after.updated_at > before.updated_at).toBe(true);
    await team.admin.put(team.base).send({ name: null, slug: null }).expect(200);
    expect((await team.admin.get(team.base)).body.name).toBe('New');
  });

  it('rejects members', async () => {
    const team = await teamOwner(app);
    const member = await join(app, team, 'mel', 'member');
    const { body } = await member.put(team.base).send('not JSON').expect(403);
    expect(body).toEqual({ error: { message: 'only admins can rename the organization' } });
  });

  it.each([
    [{ slug: 'another' }, 'invalid_slug'],
    [{ slug: 'Not A Slug' }, 'invalid_slug'],
    [{ slug: 7 }, 'invalid_slug'],
    [{ name: 'New', slug: '' }, 'invalid_slug'],
    [{ name: '' }, 'invalid_name'],
  ])('rejects %j', async (body, type) => {
    const team = await teamOwner(app);
    const { body: before } = await team.admin.get(team.base);
    expect((await team.admin.put(team.base).send(body).expect(400)).body).toEqual(typed(type));
    await team.admin.get(team.base).expect(200, before);
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
    await person.admin.get('/me/projects').expect(200, { projects: [] });
  });

  it('checks the body before the kind of the organization', async () => {
    const person = await personalOwner(app);
    const url = `/me/organizations/${person.organizationId}`;
    expect((await person.admin.put(url).send({ name: '' }).expect(400)).body).toEqual(typed('invalid_name'));
    expect((await person.admin.put(url).send({ slug: 'x' }).expect(400)).body).toEqual(typed('invalid_slug'));
    await person.admin.post(`${url}/invite`).send({ email: 'x', role: 'admin' }).expect(400);
    await person.admin.delete(`${url}/members/nobody`).expect(404, { error: { message: 'not found' } });
    await person.admin.put(`${url}/members/me`).send({ role: 'admin' }).expect(200);
    const demoted = await person.admin.put(`${url}/members/me`).send({ role: 'member' }).expect(409);
    expect(demoted.body).toEqual(typed('last_admin'));
  });

  it('has the same projects at both addresses', async () => {
    const person = await personalOwner(app);
    const { body: project } = await person.admin.post('/me/projects').send({ name: 'Mine' });
    const url = `/me/organizations/${person.organizationId}/projects`;
    await person.admin.get(url).expect(200, { projects: [project] });
    await (await app.as('somebody')).get(url).expect(404);
  });
});

describe('DELETE /me/organizations/:id', () => {
  const TABLES = ['projects', 'documents', 'upstreams', 'memberships', 'invitations', 'audit_events'];

  it('deletes all rows and the bodies of documents', async () => {
    const [team, other] = [await teamOwner(app), await teamOwner(app)];
    const member = await join(app, team, 'del', 'member');
    const [document] = [await createDocument(team), await createDocument(other)];
    const upstream = { name: 'u', base_url: 'https://1.1.1.1/v1', api_key: 'sk-of-the-upstream' };
    await team.admin.post(`${team.base}/upstreams`).send(upstream).expect(201);
    await invite(team, 'pending@example.com');
    for (const table of TABLES) expect([table, await rowsOf(table, team)]).not.toEqual([table, 0]);
    await team.admin.put(document).send({ content: 'changed' }).expect(200);
    await member
      .delete(team.base)
      .expect(403, { error: { message: 'only admins can delete the organization' } });
    await team.admin.delete(team.base).expect(200, { status: 'deleted', revoked_keys: 0 });
    for (const agent of [team.admin, member]) {
      for (const path of [team.base, document, `${team.base}/members`, `${team.base}/invitations`]) {
        await agent.get(path).expect(404, { error: { message: 'organization not found' } });
      }
      await agent.delete(team.base).expect(404);
      const { body } = await agent.get('/me/organizations').expect(200);
      expect(body.organizations.map(({ kind }: { kind: string }) => kind)).toEqual(['personal']);
    }
    for (const table of TABLES) {
      expect([table, await rowsOf(table, team)]).toEqual([table, 0]);
    }
    const [notes] = await app.database.query<{ n: number }>(
      'SELECT count(*)::int AS n FROM object_deletions',
    );
    expect(notes!.n).toBe(0);
    expect(await bodies()).not.toContain(idOf(document));
  });

  it('leaves other organizations unchanged', async () => {
    const [team, other] = [await teamOwner(app), await teamOwner(app)];
    const nat = await join(app, team, 'nat', 'admin');
    await join(app, other, 'nat', 'admin');
    await nat.post('/me/projects').send({ name: 'Mine' }).expect(201);
    const document = await createDocument(other);
    const before = [
      await nat.get(document),
      await nat.get('/me/projects'),
      await nat.get(`${other.base}/audit`),
    ];
    await nat.delete(team.base).expect(200);
    const after = [
      await nat.get(document),
      await nat.get('/me/projects'),
      await nat.get(`${other.base}/audit`),
    ];
    expect(after.map(({ body }) => body)).toEqual(before.map(({ body }) => body));
    expect(await bodies()).toContain(idOf(document));
  });

  it('revokes the keys of all members and counts only newly revoked ones', async () => {
    const team = await teamOwner(app);
    const member = await join(app, team, 'kay', 'member');
    const { body: gone } = await team.admin.post(`${team.base}/keys`).expect(201);
    await team.admin.delete(`${team.base}/keys/${gone.id}`).expect(204);
    for (const agent of [team.admin, member, member]) await agent.post(`${team.base}/keys`).expect(201);
    await team.admin.delete(team.base).set('X-Confirm-Slug', 'wrong').expect(409);
    expect((await member.get('/me/keys')).body.keys).toHaveLength(2);
    await team.admin.delete(team.base).expect(200, { status: 'deleted', revoked_keys: 3 });
    expect((await member.get('/me/keys')).body.keys).toEqual([]);
  });

  it.each([
    ['', 409],
    ['TEAM', 409],
    ['another', 409],
  ])('rejects the confirmation %j', async (confirmation, status) => {
    const team = await teamOwner(app);
    const { body } = await team.admin.delete(team.base).set('X-Confirm-Slug', confirmation).expect(status);
    expect(body).toEqual(typed('slug_mismatch'));
    await team.admin.get(team.base).expect(200);
    await createDocument(team);
  });

  it('accepts the slug as confirmation, or no confirmation', async () => {
    const team = await teamOwner(app);
    const { slug: exact } = (await team.admin.get(team.base)).body;
    await team.admin.delete(team.base).set('X-Confirm-Slug', exact.toUpperCase()).expect(409);
    await team.admin.delete(team.base).set('X-Confirm-Slug', exact).expect(200);
  });

  it('reserves the slug for the user of the latest deletion', async () => {
    const [ann, bob, eve] = [await app.as('ann'), await app.as('bob'), await app.as('eve')];
    const reserved = slug();
    const create = (agent: Agent) => agent.post('/me/organizations').send({ name: 'Again', slug: reserved });
    const refuses = async (...agents: Agent[]) => {
      for (const agent of agents) expect((await create(agent).expect(409)).body).toEqual(typed('slug_taken'));
    };
    const createdBy = async (admin: Agent) => {
      const { body } = await create(admin).expect(201);
      return { base: `/me/organizations/${body.id}`, organizationId: body.id, user: '', admin };
    };
    const first = await createdBy(ann);
    await refuses(ann, bob);
    await ann.delete(first.base).expect(200);
    await refuses(bob, eve);

    const second = await createdBy(ann);
    await join(app, second, 'bob', 'admin');
    await bob.delete(second.base).set('X-Confirm-Slug', 'something else').expect(409);
    await bob.delete(second.base).expect(200);
    await refuses(ann, eve);

    const third = await createdBy(bob);
    await join(app, third, 'eve', 'admin');
    await join(app, third, 'ann', 'admin');
    await ann.delete(`${third.base}/members/bob`).expect(200);
    await eve.delete(third.base).expect(200);
    await refuses(ann, bob);
    await createdBy(eve);
  });

  it('keeps a slug reserved when the e-mail address of its admin changes', async () => {
    const reserved = slug();
    const { body } = await (
      await app.as('ida')
    )
      .post('/me/organizations')
      .send({ name: 'a', slug: reserved });
    await (await app.as('ida')).delete(`/me/organizations/${body.id}`).expect(200);
    const thief = await app.as('thief', { email: 'ida@example.com' });
    await thief.post('/me/organizations').send({ name: 'b', slug: reserved }).expect(409);
    const moved = await app.as('ida', { email: 'ida@new.example.com' });
    await moved.post('/me/organizations').send({ name: 'b', slug: reserved }).expect(201);
  });
});

it('responds to non-members as if the organization did not exist', async () => {
  const team = await teamOwner(app);
  const stranger = await app.as('stranger');
  for (const [method, path] of [
    ['get', ''],
    ['put', ''],
    ['delete', ''],
    ['get', '/members'],
    ['put', '/members/me'],
    ['delete', '/members/me'],
    ['get', '/projects'],
    ['get', '/projects/1/documents/1'],
    ['post', '/invite'],
    ['get', '/invitations'],
    ['post', '/invitations/1/resend'],
    ['get', '/audit'],
    ['get', '/keys'],
    ['post', '/keys'],
  ] as const) {
    const [there, nowhere] = await Promise.all(
      [team.base, '/me/organizations/999999'].map((base) => stranger[method](base + path).expect(404)),
    );
    expect(there!.body).toEqual(nowhere!.body);
    expect(comparable(there!.headers)).toEqual(comparable(nowhere!.headers));
  }
});

function comparable({ date: _date, 'x-request-id': _id, ...headers }: Record<string, unknown>) {
  return headers;
}

/** @returns its address */
async function createDocument({ admin, base }: TestOwner): Promise<string> {
  const { body: project } = await admin.post(`${base}/projects`).send({ name: `project ${++count}` });
  const documents = `${base}/projects/${project.id}/documents`;
  const { body } = await admin.post(documents).send({ title: 't', slug: 's', content: 'c' }).expect(201);
  return `${documents}/${body.id}`;
}

const idOf = (address: string) => address.slice(address.lastIndexOf('/') + 1);
const bodies = () => readdir(joinPath(app.dataDir, 'objects', 'documents'));

async function rowsOf(table: string, { organizationId }: TestOwner): Promise<number> {
  const text = `SELECT count(*)::int AS n FROM ${table} WHERE organization_id = $1`;
  return (await app.database.query<{ n: number }>(text, [organizationId]))[0]!.n;
}
