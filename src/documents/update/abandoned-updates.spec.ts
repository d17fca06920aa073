import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startApp } from '../../../test/support/app.js';
import type { TestApp } from '../../../test/support/app.js';
import { inParallel } from '../../../test/support/parallel.js';
import { AbandonedUpdates } from './abandoned-updates.js';
import { sha256 } from '../store/document-body.js';

let app: TestApp;
let updates: AbandonedUpdates;
let admin: Awaited<ReturnType<TestApp['as']>>;
let documents: string;
let slugs = 0;

beforeAll(async () => {
  app = await startApp();
  updates = app.app.get(AbandonedUpdates);
  admin = await app.as('anna');
  const { body } = await admin.post('/me/projects').send({ name: 'Handbook' }).expect(201);
  documents = `/me/projects/${body.id}/documents`;
});
beforeEach(() => app.database.query('DELETE FROM document_updates'));
afterAll(() => app.close());

interface Document {
  readonly id: number;
  readonly title: string;
  readonly slug: string;
  readonly content: string;
}

async function createDocument(): Promise<Document> {
  const fields = { title: 'Old', slug: `slug-${++slugs}`, content: 'old' };
  return (await admin.post(documents).send(fields).expect(201)).body;
}

const bodyPath = (id: number) => join(app.dataDir, 'objects', 'documents', String(id));
const fetch = async ({ id }: Document) => (await admin.get(`${documents}/${id}`).expect(200)).body;

/** Writes the intent that an update leaves when its process is killed. */
async function writeIntent({ id }: Document, title: string, content: string, age: string): Promise<void> {
  const body = Buffer.from(content);
  await app.database.query(
    `INSERT INTO document_updates (document_id, title, body_sha256, body_size, created_at)
     VALUES ($1, $2, $3, $4, now() - $5::interval)`,
    [id, title, sha256(body), body.length, age],
  );
}

const intents = async ({ id }: Document) =>
  (await app.database.query('SELECT title FROM document_updates WHERE document_id = $1', [id])).map(
    ({ title }) => title as string,
  );
const rowOf = async ({ id }: Document) =>
  (await app.database.query('SELECT title, version FROM documents WHERE id = $1', [id]))[0];

it('completes an update whose body was stored exactly once, with several replicas at work', async () => {
  const stored = await inParallel(5, createDocument);
  for (const document of stored) {
    await writeIntent(document, 'New', 'new', '2 hours');
    await writeFile(bodyPath(document.id), 'new');
  }
  await inParallel(3, () => updates.run());
  for (const document of stored) {
    expect(await rowOf(document)).toEqual({ title: 'New', version: 2 });
    expect(await intents(document)).toEqual([]);
    expect(await fetch(document)).toMatchObject({ title: 'New', content: 'new' });
  }
});

it('keeps the old slug if another document has taken the new one', async () => {
  const document = await createDocument();
  await writeIntent(document, 'New', 'new', '2 hours');
  await app.database.query(`UPDATE document_updates SET slug = 'taken'`);
  await writeFile(bodyPath(document.id), 'new');
  await admin.post(documents).send({ title: 'Quicker', slug: 'taken' }).expect(201);
  await updates.run();
  expect(await intents(document)).toEqual([]);
  const { slug } = document;
  expect(await fetch(document)).toMatchObject({ title: 'New', content: 'new', slug });
});

it('removes the intent of an update whose body was not stored', async () => {
  const document = await createDocument();
  await writeIntent(document, 'Never', 'never', '2 hours');
  await writeIntent(document, 'Neither', 'neither', '3 hours');
  await updates.run();
  expect(await intents(document)).toEqual([]);
  expect(await fetch(document)).toEqual(document);
});

it('ignores intents younger than one hour, because their bodies may still arrive', async () => {
  const [young, both] = [await createDocument(), await createDocument()];
  await writeIntent(young, 'Young', 'young', '50 minutes');
  await writeIntent(both, 'Old', 'never', '2 hours');
  await writeIntent(both, 'Young', 'young', '50 minutes');
  await updates.run();
  expect(await intents(young)).toEqual(['Young']);
  expect(await intents(both)).toEqual(['Young']);

  await writeFile(bodyPath(both.id), 'young');
  expect(await fetch(both)).toMatchObject({ title: 'Young', content: 'young' });
});

it('skips a document whose body is lost, and settles the others', async () => {
  const [lost, stored] = [await createDocument(), await createDocument()];
  for (const document of [lost, stored]) await writeIntent(document, 'New', 'new', '2 hours');
  await writeFile(bodyPath(lost.id), 'something else');
  await writeFile(bodyPath(stored.id), 'new');
  await updates.run();
  expect(await intents(lost)).toEqual(['New']);
  expect(await rowOf(lost)).toEqual({ title: 'Old', version: 1 });
  expect(await rowOf(stored)).toEqual({ title: 'New', version: 2 });
});

it('skips a document whose body cannot be read, and settles the others', async () => {
  const [unreadable, stored] = [await createDocument(), await createDocument()];
  for (const document of [unreadable, stored]) await writeIntent(document, 'New', 'new', '2 hours');
  await rm(bodyPath(unreadable.id));
  await symlink(bodyPath(stored.id), bodyPath(unreadable.id)); // the store does not follow links
  await writeFile(bodyPath(stored.id), 'new');
  await updates.run();
  expect(await intents(unreadable)).toEqual(['New']);
  expect(await rowOf(stored)).toEqual({ title: 'New', version: 2 });
});

it('changes nothing while object storage is down, and settles the documents afterwards', async () => {
  const document = await createDocument();
  await writeIntent(document, 'New', 'new', '2 hours');
  await writeFile(bodyPath(document.id), 'new');
  const [objects, away] = [join(app.dataDir, 'objects'), join(app.dataDir, 'away')];
  await rename(objects, away);
  await mkdir(objects); // like a mount point without its volume
  await expect(updates.run()).rejects.toThrow('object storage');
  expect(await intents(document)).toEqual(['New']);
  expect(await rowOf(document)).toEqual({ title: 'Old', version: 1 });

  await rename(away, objects);
  await updates.run();
  expect(await intents(document)).toEqual([]);
  expect(await rowOf(document)).toEqual({ title: 'New', version: 2 });
});

it('settles more documents than one batch', async () => {
  const document = await createDocument();
  await app.database.query(
    `WITH made AS (
       INSERT INTO documents (organization_id, project_id, title, slug, body_sha256, body_size)
       SELECT organization_id, project_id, 'lost', 'lost-' || n, '', 0
       FROM documents, generate_series(1, 150) AS n WHERE documents.id = $1 RETURNING id
     ) INSERT INTO document_updates (document_id, body_sha256, body_size, created_at)
       SELECT id, '', 0, now() - interval '2 hours' FROM made`,
    [document.id],
  );
  const last = await createDocument();
  await writeIntent(last, 'Never', 'never', '2 hours');
  await updates.run();
  expect(await intents(last)).toEqual([]);
});
