import pg from 'pg';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { Caretaker } from '../support/caretaker.js';
import { connect, lockedOut } from '../support/database.js';
import { personalOwner } from '../support/owners.js';
import type { TestOwner } from '../support/owners.js';
import { inParallel, tally } from '../support/parallel.js';

/** Time for an update that waits for others, which takes a busy machine longer than the usual 5 s. */
const STORAGE_TIMEOUT_MS = 60_000;

let app: TestApp;
let admin: TestOwner['admin'];
let project: string;
let projects = 0;

beforeAll(async () => {
  app = await startApp({}, {}, { storageTimeoutMs: STORAGE_TIMEOUT_MS });
  ({ admin } = await personalOwner(app));
});
beforeEach(async () => {
  const { body } = await admin.post('/me/projects').send({ name: `Project ${++projects}` });
  project = `/me/projects/${body.id}`;
});
afterAll(() => app.close());

async function createDocuments(slugs: readonly string[]): Promise<string[]> {
  const answers = await Promise.all(
    slugs.map((slug) => admin.post(`${project}/documents`).send({ title: slug, slug, content: slug })),
  );
  return answers.map(({ status, body }) => {
    expect(status).toBe(201);
    return `${project}/documents/${body.id}`;
  });
}

it.each([
  ['alone', {}],
  ['with new bodies', { content: 'new' }],
])('two documents that swap their slugs concurrently, %s, both keep their own', async (_, more) => {
  const [a, b] = await createDocuments(['a', 'b']);
  for (let round = 0; round < 10; round++) {
    const answers = await Promise.all([
      admin.put(a!).send({ slug: 'b', ...more }),
      admin.put(b!).send({ slug: 'a', ...more }),
    ]);
    for (const { status, body } of answers) {
      expect({ status, type: body.error?.type }).toEqual({ status: 409, type: 'slug_taken' });
    }
  }
  const slugs = await Promise.all([a, b].map(async (url) => (await admin.get(url!).expect(200)).body.slug));
  expect(slugs).toEqual(['a', 'b']);
});

it('a document does not get the slug of a document that waits for its own', async () => {
  const [a, b] = await createDocuments(['a', 'b']);
  const client = new pg.Client({ connectionString: app.database.url });
  await client.connect();
  const other = (slug: string) =>
    client.query('UPDATE documents SET slug = $1 WHERE id = $2', [slug, b!.split('/').at(-1)]);
  await client.query('BEGIN');
  await other('c');
  const update = admin.put(a!).send({ slug: 'b', content: 'new' });
  const answer = update.then(({ status, body }) => ({ status, type: body.error?.type }));
  await lockedOut(app.database, 1);
  await expect(other('a')).rejects.toMatchObject({ constraint: 'documents_project_id_slug_key' });
  expect(await answer).toEqual({ status: 409, type: 'slug_taken' });
  await client.end();
  expect((await admin.get(a!).expect(200)).body).toMatchObject({ slug: 'a', content: 'a' });
});

it('a project and its documents can be deleted concurrently', async () => {
  for (let round = 0; round < 8; round++) {
    const { body } = await admin.post('/me/projects').send({ name: `Round ${round}` });
    project = `/me/projects/${body.id}`;
    const documents = await createDocuments(['a', 'b', 'c', 'd', 'e', 'f']);
    const [gone, ...answers] = await Promise.all([
      admin.delete(project),
      ...documents.reverse().map((document) => admin.delete(document)),
    ]);
    expect(gone.status).toBe(204);
    expect(Object.keys(tally(answers.map(({ status }) => status)))).not.toContain('500');
  }
  const caretaker = new Caretaker(app.app, app.database);
  expect(await app.database.query('SELECT * FROM object_deletions')).toEqual([]);
  await caretaker.expectNothingLeftBehind();
});

it('documents can be updated, read and deleted concurrently, and their project with them', async () => {
  for (let round = 0; round < 4; round++) {
    const { body } = await admin.post('/me/projects').send({ name: `All ${round}` });
    project = `/me/projects/${body.id}`;
    const documents = await createDocuments(['a', 'b', 'c', 'd']);
    const answers = await inParallel(40, (i) => {
      const document = documents[i % 4]!;
      if (i === 30) return admin.delete(project);
      if (i % 5 === 0) return admin.get(document);
      if (i % 11 === 0) return admin.delete(document);
      return admin
        .put(document)
        .send({ title: `${i}`, slug: `s${i % 7}`, content: i % 3 ? `${i}` : undefined });
    });
    const statuses = Object.keys(tally(answers.map(({ status }) => status)));
    expect(['200', '204', '404', '409']).toEqual(expect.arrayContaining(statuses));
  }
  await new Caretaker(app.app, app.database).expectNothingLeftBehind();
});

it('documents with long locks do not block others, and are updated in the end', async () => {
  const held = await createDocuments(Array.from({ length: 20 }, (_, i) => `held-${i}`));
  const [other] = await createDocuments(['other']);
  const holder = await connect(app.database);
  await holder.query('BEGIN');
  const ids = held.map((url) => url.split('/').at(-1));
  await holder.query('SELECT FROM documents WHERE id = ANY ($1::bigint[]) FOR UPDATE', [ids]);
  const updates = inParallel(40, (i) =>
    admin.put(held[i % 20]!).send(i < 20 ? { content: 'new' } : { title: 'New' }),
  );
  await lockedOut(app.database, 5);
  for (const change of [{ content: 'new' }, { title: 'New' }])
    await admin.put(other!).send(change).expect(200);
  await holder.query('COMMIT');
  await holder.end();
  expect(tally((await updates).map(({ status }) => status))).toEqual({ 200: 40 });
});
