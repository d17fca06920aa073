import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { connect, lockedOut } from '../support/database.js';
import { join, OWNER_KINDS, teamOwner } from '../support/owners.js';
import type { TestOwner } from '../support/owners.js';
import { inParallel, tally } from '../support/parallel.js';

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

let app: TestApp;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

describe.each(OWNER_KINDS)('projects of %s', (_kind, makeOwner) => {
  let owner: TestOwner;
  let url: string;

  beforeEach(async () => {
    owner = await makeOwner(app);
    url = `${owner.base}/projects`;
  });

  async function createProject(body: object = { name: 'Handbook' }) {
    return (await owner.admin.post(url).send(body).expect(201)).body;
  }

  it('creates a project and returns it', async () => {
    const project = await createProject({ name: '  Handbook\u00a0\n', description: ' as it comes ' });
    expect(project).toEqual({
      id: expect.any(Number),
      organization_id: owner.organizationId,
      name: 'Handbook',
      description: ' as it comes ',
      created_at: expect.stringMatching(ISO_TIME),
      updated_at: project.created_at,
    });
    await owner.admin.get(`${url}/${project.id}`).expect(200, project);
    await owner.admin.get(url).expect(200, { projects: [project] });
  });

  it.each([[{ name: 'a' }], [{ name: 'a', description: null }]])(
    'takes %j as without description',
    async (body) => {
      expect((await createProject(body)).description).toBe('');
    },
  );

  it('rejects descriptions that exceed the limit together, and changes nothing', async () => {
    const description = 'x'.repeat(1_000_000);
    const short = await createProject({ name: 'short' });
    for (const name of '12345678') await createProject({ name, description });
    const { body } = await owner.admin.post(url).send({ name: '9', description }).expect(409);
    expect(body.error).toEqual({
      type: 'descriptions_too_long',
      message: 'all project descriptions together exceed 8388608 bytes: shorten one first',
    });
    await owner.admin.put(`${url}/${short.id}`).send({ name: 'long', description }).expect(409, body);
    await createProject({ name: 'another' });
    const { projects } = (await owner.admin.get(url).expect(200)).body;
    expect(projects.map(({ name }: { name: string }) => name)).toEqual(['short', ...'12345678', 'another']);
  });

  it('allows shorter descriptions above the limit', async () => {
    const { id } = await createProject();
    await app.database.query(`UPDATE projects SET description = repeat('x', 9000000) WHERE id = $1`, [id]);
    const describe = (description: string) => owner.admin.put(`${url}/${id}`).send({ description });
    await describe('x'.repeat(1_000_000)).expect(200);
    await describe('').expect(200);
  });

  it('lists in order of creation, with an entity tag for 304 responses', async () => {
    for (const name of ['c', 'a', 'b']) await createProject({ name });
    const { body, headers } = await owner.admin.get(url).expect(200);
    expect(body.projects.map(({ name }: { name: string }) => name)).toEqual(['c', 'a', 'b']);
    await owner.admin.get(url).set('If-None-Match', headers.etag!).expect(304);
    const asFetchDoes = { 'If-None-Match': headers.etag!, 'Cache-Control': 'no-cache', Pragma: 'no-cache' };
    await owner.admin.get(url).set(asFetchDoes).expect(304);
    await createProject({ name: 'd' });
    await owner.admin.get(url).set('If-None-Match', headers.etag!).expect(200);
  });

  it('starts with an empty list', () => owner.admin.get(url).expect(200, { projects: [] }));

  it.each([
    [{ name: 'Changed' }, { name: 'Changed', description: 'old' }],
    [{ description: '' }, { name: 'Handbook', description: '' }],
    [
      { name: null, description: null },
      { name: 'Handbook', description: 'old' },
    ],
    [{}, { name: 'Handbook', description: 'old' }],
  ])('a PUT of %j changes only that', async (change, expected) => {
    const before = await createProject({ name: 'Handbook', description: 'old' });
    const { body: after } = await owner.admin.put(`${url}/${before.id}`).send(change).expect(200);
    expect(after).toEqual({ ...before, ...expected, updated_at: after.updated_at });
    expect(after.updated_at > before.updated_at).toBe(true);
    await owner.admin.get(`${url}/${before.id}`).expect(200, after);
  });

  it('advances updated_at with every PUT, also in quick succession', async () => {
    const { id } = await createProject();
    const times = [];
    for (let i = 0; i < 20; i++) times.push((await owner.admin.put(`${url}/${id}`).send({})).body.updated_at);
    expect(new Set(times).size).toBe(20);
    expect(times).toEqual([...times].sort());
  });

  it('deletes a project with its documents, once', async () => {
    const { id } = await createProject();
    await owner.admin
      .post(`${url}/${id}/documents`)
      .send({ title: 't', slug: 's', content: 'c' })
      .expect(201);
    await owner.admin.delete(`${url}/${id}`).expect(204, '');
    await owner.admin.delete(`${url}/${id}`).expect(404, { error: { message: 'not found' } });
    await owner.admin.get(`${url}/${id}`).expect(404);
    await owner.admin.get(`${url}/${id}/documents`).expect(404);
    await createProject(); // the name is free again
  });

  it('compares names exactly: case and normal form count', async () => {
    for (const name of ['é', 'e\u0301', 'E', 'e']) await createProject({ name });
    const { body } = await owner.admin.post(url).send({ name: ' é ' }).expect(409);
    expect(body).toEqual({ error: { type: 'name_taken', message: expect.any(String) } });
  });

  it('rejects a rename to a name that is taken', async () => {
    await createProject({ name: 'one' });
    const two = await createProject({ name: 'two' });
    const { body } = await owner.admin
      .put(`${url}/${two.id}`)
      .send({ name: 'one', description: 'x' })
      .expect(409);
    expect(body.error.type).toBe('name_taken');
    await owner.admin.get(`${url}/${two.id}`).expect(200, two);
    await owner.admin.put(`${url}/${two.id}`).send({ name: 'two' }).expect(200);
  });

  it('lets one of 20 simultaneous creations of one name win', async () => {
    for (let round = 0; round < 5; round++) {
      const answers = await inParallel(20, () => owner.admin.post(url).send({ name: `race ${round}` }));
      expect(tally(answers.map(({ status }) => status))).toEqual({ 201: 1, 409: 19 });
    }
    const { body } = await owner.admin.get(url);
    expect(body.projects).toHaveLength(5);
  });

  it('rejects both renames when two projects swap names', async () => {
    const [a, b] = [await createProject({ name: 'a' }), await createProject({ name: 'b' })];
    const other = await connect(app.database);
    await other.query('BEGIN');
    const rename = (name: string) => other.query('UPDATE projects SET name = $1 WHERE id = $2', [name, b.id]);
    await rename('c');
    const answer = owner.admin.put(`${url}/${a.id}`).send({ name: 'b' }).then();
    await lockedOut(app.database, 1);
    await expect(rename('a')).rejects.toMatchObject({ constraint: 'projects_organization_id_name_key' });
    const { status, body } = await answer;
    expect({ status, type: body.error?.type }).toEqual({ status: 409, type: 'name_taken' });
    await other.end();
    await owner.admin.get(`${url}/${a.id}`).expect(200, a);
    await owner.admin.get(`${url}/${b.id}`).expect(200, b);
  });

  it('allows the same name for different owners', async () => {
    await createProject({ name: 'Shared' });
    const other = await makeOwner(app);
    await other.admin.post(`${other.base}/projects`).send({ name: 'Shared' }).expect(201);
  });

  it("hides another owner's project behind the same 404 as one that does not exist", async () => {
    const { id } = await createProject();
    const other = await makeOwner(app);
    const address = `${other.base}/projects`;
    const missing = await other.admin.get(`${address}/999999999999999`).expect(404);
    for (const request of [
      other.admin.get(`${address}/${id}`),
      other.admin.put(`${address}/${id}`).send({ name: 'x' }),
      other.admin.delete(`${address}/${id}`),
      other.admin.get(`${address}/${id}/documents`),
    ]) {
      expect((await request.expect(404)).body).toEqual(missing.body);
    }
    await owner.admin.get(`${url}/${id}`).expect(200);
  });
});

describe('projects of a team', () => {
  let team: TestOwner;
  let project: { id: number };

  beforeAll(async () => {
    team = await teamOwner(app);
    project = (await team.admin.post(`${team.base}/projects`).send({ name: 'Ours' })).body;
  });

  it('can be read by members and written by admins only', async () => {
    const member = await join(app, team, 'mo', 'member');
    const url = `${team.base}/projects`;
    await member.get(url).expect(200, { projects: [project] });
    await member.get(`${url}/${project.id}`).expect(200, project);
    const message = (what: string) => ({ error: { message: `only admins can ${what}` } });
    await member.post(url).send('not even JSON').expect(403, message('create projects'));
    await member.put(`${url}/${project.id}`).send({ name: 'x' }).expect(403, message('update projects'));
    await member.delete(`${url}/${project.id}`).expect(403, message('delete projects'));
    await member.delete(`${url}/999`).expect(403);
  });

  it.each(['get', 'post'] as const)('are 404 for non-members (%s)', async (method) => {
    const stranger = await app.as('stranger');
    const unknown = await stranger[method]('/me/organizations/999999/projects').expect(404);
    expect(unknown.body).toEqual({ error: { message: 'organization not found' } });
    await stranger[method](`${team.base}/projects`).expect(404, unknown.body);
  });
});
