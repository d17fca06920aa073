import { readdir, readFile } from 'node:fs/promises';
import { join as joinPath } from 'node:path';
import { DeletionQueue } from '../../src/storage/deletion-queue.js';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { join, OWNER_KINDS, teamOwner } from '../support/owners.js';
import type { TestOwner } from '../support/owners.js';
import { inParallel, tally } from '../support/parallel.js';

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Many parallel writes of one document end within it on a busy machine, too. */
const STORAGE_TIMEOUT_MS = 30_000;

let app: TestApp;

beforeAll(async () => {
  app = await startApp({}, {}, { storageTimeoutMs: STORAGE_TIMEOUT_MS });
  app.app.get(DeletionQueue, { strict: false }).promptRemovalMs = STORAGE_TIMEOUT_MS;
});
afterAll(() => app.close());

const storedBodies = () => readdir(joinPath(app.dataDir, 'objects', 'documents')).catch(() => []);

describe.each(OWNER_KINDS)('documents of %s', (_kind, makeOwner) => {
  let owner: TestOwner;
  let projectId: number;
  let url: string;

  beforeEach(async () => {
    owner = await makeOwner(app);
    projectId = (await owner.admin.post(`${owner.base}/projects`).send({ name: 'Handbook' }).expect(201)).body
      .id;
    url = `${owner.base}/projects/${projectId}/documents`;
  });

  async function createDocument(body: object = { title: 'Welcome', slug: 'welcome', content: '# Hello' }) {
    return (await owner.admin.post(url).send(body).expect(201)).body;
  }

  it('creates a document and returns it with its content', async () => {
    const response = await owner.admin
      .post(url)
      .send({ title: ' Welcome ', slug: 'welcome', content: ' # Hello\n' });
    expect(response.status).toBe(201);
    expect(response.headers.etag).toMatch(/^"[^"]+"$/);
    expect(response.body).toEqual({
      id: expect.any(Number),
      project_id: projectId,
      title: 'Welcome',
      slug: 'welcome',
      created_at: expect.stringMatching(ISO_TIME),
      updated_at: expect.stringMatching(ISO_TIME),
      content: ' # Hello\n',
    });
    const fetched = await owner.admin.get(`${url}/${response.body.id}`).expect(200, response.body);
    expect(fetched.headers.etag).toBe(response.headers.etag);
  });

  it('lists documents without contents, in the order of creation', async () => {
    await owner.admin.get(url).expect(200, { documents: [] });
    const { content: _, ...first } = await createDocument({ title: 'b', slug: 'b' });
    const { content: __, ...second } = await createDocument({ title: 'a', slug: 'a' });
    const { headers } = await owner.admin.get(url).expect(200, { documents: [first, second] });
    await owner.admin.get(url).set('If-None-Match', headers.etag!).expect(304);
  });

  it.each([[{}], [{ content: null }], [{ content: '' }]])('stores an empty body for %j', async (body) => {
    const document = await createDocument({ title: 't', slug: 's', ...body });
    expect(document.content).toBe('');
    expect(await storedBodies()).toContain(String(document.id));
    await owner.admin.get(`${url}/${document.id}`).expect(200, document);
  });

  it.each([
    ['U+0000', 'a\0b'],
    ['a byte order mark', '\ufeff# Title'],
    ['CRLF', 'one\r\ntwo\r'],
    ['links to nowhere', '[[missing]] [[Not A Slug]] ]]]['],
    ['astral characters', '👩‍🚀 𝕏'],
    ['white space alone', ' \t\n '],
  ])('keeps %s byte for byte', async (_what, content) => {
    const { id } = await createDocument({ title: 't', slug: 's', content });
    expect((await owner.admin.get(`${url}/${id}`)).body.content).toBe(content);
    expect(await readFile(joinPath(app.dataDir, 'objects', 'documents', String(id)))).toEqual(
      Buffer.from(content),
    );
    const { body } = await owner.admin.put(`${url}/${id}`).send({ content: content + content });
    expect(body.content).toBe(content + content);
  });

  it.each([
    [{ title: ' New ' }, { title: 'New' }],
    [{ slug: 'new' }, { slug: 'new' }],
    [{ content: '' }, { content: '' }],
    [{ title: null, slug: null, content: null }, {}],
    [{}, {}],
    [
      { title: 'x', slug: 'y', content: 'z' },
      { title: 'x', slug: 'y', content: 'z' },
    ],
  ])('a PUT of %j changes only these members', async (change, expected) => {
    const before = await createDocument();
    const { body: after } = await owner.admin.put(`${url}/${before.id}`).send(change).expect(200);
    expect(after).toEqual({ ...before, ...expected, updated_at: after.updated_at });
    expect(after.updated_at > before.updated_at).toBe(true);
    await owner.admin.get(`${url}/${before.id}`).expect(200, after);
  });

  it('does not write to object storage when only title or slug change', async () => {
    const { id } = await createDocument();
    const path = joinPath(app.dataDir, 'objects', 'documents', String(id));
    const { ino } = await import('node:fs').then(({ statSync }) => statSync(path));
    await owner.admin.put(`${url}/${id}`).send({ title: 'x', slug: 'x' }).expect(200);
    expect((await import('node:fs')).statSync(path).ino).toBe(ino);
  });

  it('gives every version its own entity tag, and responds with 304 if it matches', async () => {
    const { id } = await createDocument();
    const tags = new Set<string>();
    for (let i = 0; i < 3; i++) {
      const { headers } = await owner.admin.put(`${url}/${id}`).send({});
      tags.add(headers.etag!);
      const match = await owner.admin
        .get(`${url}/${id}`)
        .set('If-None-Match', `"x", W/${headers.etag}`)
        .expect(304);
      expect(match.headers.etag).toBe(headers.etag);
      expect(match.text).toBe('');
      await owner.admin.get(`${url}/${id}`).set('If-None-Match', '"x"').expect(200);
    }
    expect(tags.size).toBe(3);
  });

  it('responds with 304 without reading object storage', async () => {
    const { id } = await createDocument();
    const { headers } = await owner.admin.get(`${url}/${id}`);
    await import('node:fs/promises').then(({ rm }) =>
      rm(joinPath(app.dataDir, 'objects', 'documents', String(id))),
    );
    await owner.admin.get(`${url}/${id}`).set('If-None-Match', headers.etag!).expect(304);
    await owner.admin.get(`${url}/${id}`).expect(500, { error: { message: 'internal error' } });
  });

  it.each(['put', 'delete'] as const)('rejects a %s with an outdated If-Match', async (method) => {
    const { id } = await createDocument();
    const { headers } = await owner.admin.get(`${url}/${id}`);
    const { body: current } = await owner.admin.put(`${url}/${id}`).send({ content: 'newer' });
    for (const tag of [headers.etag!, '"x"', 'W/"x"']) {
      const refused = await owner.admin[method](`${url}/${id}`)
        .set('If-Match', tag)
        .send({ content: 'no' })
        .expect(412);
      expect(refused.body.error.type).toBe('precondition_failed');
      expect(refused.headers.etag).toBeUndefined(); // it would be the entity tag of the error
    }
    await owner.admin.get(`${url}/${id}`).expect(200, current);
    const fresh = (await owner.admin.get(`${url}/${id}`)).headers.etag!;
    await owner.admin[method](`${url}/${id}`)
      .set('If-Match', `"x", ${fresh}`)
      .send({ content: 'yes' })
      .expect(method === 'put' ? 200 : 204);
  });

  it('accepts If-Match: * for any version', async () => {
    const { id } = await createDocument();
    await owner.admin.put(`${url}/${id}`).set('If-Match', '*').send({ title: 'x' }).expect(200);
    await owner.admin.delete(`${url}/${id}`).set('If-Match', '*').expect(204);
    await owner.admin.put(`${url}/${id}`).set('If-Match', '*').send({ title: 'x' }).expect(404);
  });

  it('checks the slug before If-Match', async () => {
    await createDocument({ title: 'a', slug: 'taken' });
    const { id } = await createDocument();
    for (const body of [{ slug: 'taken' }, { slug: 'taken', content: 'x' }]) {
      await owner.admin.put(`${url}/${id}`).set('If-Match', '"x"').send(body).expect(409);
    }
    expect((await owner.admin.get(`${url}/${id}`)).body.content).toBe('# Hello');
  });

  it.each([
    [{ content: 'a' }, { content: 'b' }],
    [{ title: 'a' }, { title: 'b' }],
    [{ content: 'a' }, { title: 'b' }],
  ])('lets one of two PUTs with the same If-Match win: %j, %j', async (one, other) => {
    const { id } = await createDocument();
    for (let round = 0; round < 10; round++) {
      const { etag } = (await owner.admin.get(`${url}/${id}`)).headers;
      const answers = await inParallel(4, (i) =>
        owner.admin
          .put(`${url}/${id}`)
          .set('If-Match', etag!)
          .send(i % 2 ? one : other),
      );
      expect(tally(answers.map(({ status }) => status))).toEqual({ 200: 1, 412: 3 });
      const winner = answers.find(({ status }) => status === 200)!;
      await owner.admin.get(`${url}/${id}`).expect(200, winner.body);
    }
  });

  it('never mixes parallel PUTs, not even for concurrent readers', async () => {
    const { id } = await createDocument({ title: '0', slug: 'v0', content: '0'.repeat(5000) });
    const whole = ({ title, slug, content }: Record<string, string>) =>
      expect({ slug, content }).toEqual({ slug: `v${title}`, content: title!.repeat(5000) });
    for (let round = 0; round < 5; round++) {
      await inParallel(12, async (i) => {
        const n = String(i % 10);
        if (i % 3 === 0) return whole((await owner.admin.get(`${url}/${id}`).expect(200)).body);
        const body = { title: n, slug: `v${n}`, content: n.repeat(5000) };
        whole((await owner.admin.put(`${url}/${id}`).send(body).expect(200)).body);
      });
      whole((await owner.admin.get(`${url}/${id}`).expect(200)).body);
    }
  });

  it('lets one of 20 concurrent creations of one slug win, and keeps no other body', async () => {
    const notes = () => app.database.query('SELECT key FROM object_deletions ORDER BY key');
    const [before, notesBefore] = [await storedBodies(), await notes()];
    for (let round = 0; round < 3; round++) {
      const answers = await inParallel(20, (i) =>
        owner.admin.post(url).send({ title: 't', slug: `race-${round}`, content: String(i) }),
      );
      expect(tally(answers.map(({ status }) => status))).toEqual({ 201: 1, 409: 19 });
      const winner = answers.find(({ status }) => status === 201)!.body;
      await owner.admin.get(`${url}/${winner.id}`).expect(200, winner);
      expect(answers.find(({ status }) => status === 409)!.body.error.type).toBe('slug_taken');
    }
    expect((await storedBodies()).length - before.length).toBe(3);
    expect(await notes()).toEqual(notesBefore);
  });

  it('frees slug and body on DELETE', async () => {
    const { id } = await createDocument();
    await owner.admin.delete(`${url}/${id}`).expect(204, '');
    await owner.admin.delete(`${url}/${id}`).expect(404, { error: { message: 'not found' } });
    await owner.admin.get(`${url}/${id}`).expect(404);
    expect(await storedBodies()).not.toContain(String(id));
    const again = await createDocument();
    expect(again.id).toBeGreaterThan(id);
  });

  it('deletes the bodies of a deleted project', async () => {
    const { id } = await createDocument();
    await owner.admin.delete(`${owner.base}/projects/${projectId}`).expect(204);
    expect(await storedBodies()).not.toContain(String(id));
  });

  it('deletes a document during an update, and both responses are correct', async () => {
    for (let round = 0; round < 10; round++) {
      const { id } = await createDocument({ title: 't', slug: `r${round}` });
      const [put, gone] = await Promise.all([
        owner.admin.put(`${url}/${id}`).send({ content: 'new' }),
        owner.admin.delete(`${url}/${id}`),
      ]);
      expect(gone.status).toBe(204);
      expect([200, 404]).toContain(put.status);
      await owner.admin.get(`${url}/${id}`).expect(404);
      expect(await storedBodies()).not.toContain(String(id));
    }
  });

  it('leaves no body of documents created while their project is deleted', async () => {
    for (let round = 0; round < 5; round++) {
      const { body: project } = await owner.admin.post(`${owner.base}/projects`).send({ name: `p${round}` });
      const address = `${owner.base}/projects/${project.id}`;
      const before = (await storedBodies()).length;
      const [, ...answers] = await Promise.all([
        owner.admin.delete(address).expect(204),
        ...(await Promise.resolve(
          Array.from({ length: 6 }, (_, i) =>
            owner.admin.post(`${address}/documents`).send({ title: 't', slug: `s${i}` }),
          ),
        )),
      ]);
      expect(answers.every(({ status }) => status === 201 || status === 404)).toBe(true);
      expect((await storedBodies()).length).toBe(before);
      expect(await app.database.query('SELECT 1 FROM documents WHERE project_id = $1', [project.id])).toEqual(
        [],
      );
    }
  });

  it('hides documents of other owners and of other projects behind one 404', async () => {
    const { id } = await createDocument();
    const { body: sibling } = await owner.admin.post(`${owner.base}/projects`).send({ name: 'Other' });
    const other = await makeOwner(app);
    const { body: theirs } = await other.admin.post(`${other.base}/projects`).send({ name: 'Theirs' });
    for (const [agent, address] of [
      [owner.admin, `${owner.base}/projects/${sibling.id}/documents/${id}`],
      [other.admin, `${other.base}/projects/${projectId}/documents/${id}`],
      [other.admin, `${other.base}/projects/${theirs.id}/documents/${id}`],
    ] as const) {
      const notFound = { error: { message: 'not found' } };
      await agent.get(address).expect(404, notFound);
      await agent.put(address).send({ title: 'x' }).expect(404, notFound);
      await agent.put(address).send({ content: 'x' }).expect(404, notFound);
      await agent.delete(address).expect(404, notFound);
    }
    const list = `${other.base}/projects/${projectId}/documents`;
    await other.admin.get(list).expect(404, { error: { message: 'not found' } });
    await other.admin.post(list).send({ title: 't', slug: 's' }).expect(404);
    expect((await owner.admin.get(`${url}/${id}`)).body.content).toBe('# Hello');
  });
});

describe('documents of a team', () => {
  let team: TestOwner;

  beforeAll(async () => {
    team = await teamOwner(app);
  });

  it('can be read by members and written by admins only', async () => {
    const { body: project } = await team.admin.post(`${team.base}/projects`).send({ name: 'Ours' });
    const url = `${team.base}/projects/${project.id}/documents`;
    const { body: document } = await team.admin.post(url).send({ title: 't', slug: 's', content: 'c' });
    const member = await join(app, team, 'molly', 'member');
    await member.get(`${url}/${document.id}`).expect(200, document);
    expect((await member.get(url).expect(200)).body.documents).toHaveLength(1);
    const message = (what: string) => ({ error: { message: `only admins can ${what}` } });
    await member.post(url).send({}).expect(403, message('create documents'));
    await member.put(`${url}/${document.id}`).send({ title: 'x' }).expect(403, message('update documents'));
    await member.delete(`${url}/${document.id}`).expect(403, message('delete documents'));
  });
});
