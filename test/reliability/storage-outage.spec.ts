import { ObjectStore } from '../../src/storage/object-store.js';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { Caretaker } from '../support/caretaker.js';
import { connect } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { personalOwner } from '../support/owners.js';
import type { TestOwner } from '../support/owners.js';
import { inParallel, tally } from '../support/parallel.js';
import { startS3Proxy } from '../support/s3-proxy.js';
import type { S3Proxy } from '../support/s3-proxy.js';
import { startS3 } from '../support/s3.js';
import type { S3 } from '../support/s3.js';

const INTERNAL_ERROR = { error: { message: 'internal error' } };
/** Four times the default, so that a busy machine does everything else in the meantime. */
const STORAGE_TIMEOUT_MS = 20_000;
/** A second wait for object storage would exceed this limit. */
const FAILURE_DEADLINE_MS = 2 * STORAGE_TIMEOUT_MS - 1_000;
/** Less than one wait for object storage. */
const PROMPT_MS = STORAGE_TIMEOUT_MS - 1_000;
const HALF_OF_THE_POOL = 10;
/** Maximum time that a deletion waits for the removal of the body. */
const PROMPT_REMOVAL_MS = 1_000;

interface Document {
  readonly id: number;
  readonly title: string;
  readonly slug: string;
  readonly content: string;
}

type Agent = TestOwner['admin'];
type Sent = ReturnType<Agent['get']>;

let folder: S3;
let proxy: S3Proxy;
let app: TestApp;
let caretaker: Caretaker;
let admin: Agent;
let documentsUrl: string;
let projectId: number;
let slugs = 0;

beforeAll(async () => {
  folder = await startS3();
  proxy = await startS3Proxy(folder.endpoint);
  app = await startApp(
    {
      MINIO_ENDPOINT: proxy.endpoint.href,
      MINIO_ACCESS_KEY: folder.accessKey,
      MINIO_SECRET_KEY: folder.secretKey,
    },
    {},
    { storageTimeoutMs: STORAGE_TIMEOUT_MS },
  );
  caretaker = new Caretaker(app.app, app.database);
  ({ admin } = await personalOwner(app));
  projectId = (await admin.post('/me/projects').send({ name: 'Handbook' }).expect(201)).body.id;
  documentsUrl = `/me/projects/${projectId}/documents`;
});
afterAll(async () => {
  await app.close();
  await proxy.stop();
  await folder.stop();
});

async function createDocument(): Promise<Document> {
  const body = { title: 'Old', slug: `slug-${++slugs}`, content: 'the old body' };
  return (await admin.post(documentsUrl).send(body).expect(201)).body;
}

const urlOf = ({ id }: Pick<Document, 'id'>) => `${documentsUrl}/${id}`;
const change = () => ({ title: 'New', slug: `slug-${++slugs}`, content: 'the new body' });
const readiness = () => app.anonymous.get('/readyz');

/** Duration until the response. */
async function timed(request: Sent): Promise<{ status: number; body: unknown; ms: number }> {
  const start = performance.now();
  const { status, body } = await request;
  return { status, body, ms: performance.now() - start };
}

async function expectFailure(request: Sent): Promise<void> {
  const { status, body, ms } = await timed(request);
  expect({ status, body }).toEqual({ status: 500, body: INTERNAL_ERROR });
  expect(ms).toBeLessThan(FAILURE_DEADLINE_MS);
}

async function expectUnchanged(documents: readonly Document[]): Promise<void> {
  for (const document of documents) await admin.get(urlOf(document)).expect(200, document);
}

describe('an unreachable object storage', () => {
  it('fails requests that need it immediately, and no others; all work when it is back', async () => {
    const document = await createDocument();
    const deleted = await createDocument();
    const { body: list } = await admin.get(documentsUrl).expect(200);
    const { port } = proxy.endpoint;
    await proxy.stop();

    await expectFailure(admin.post(documentsUrl).send(change()));
    await expectFailure(admin.put(urlOf(document)).send(change()));
    await expectFailure(admin.put(urlOf(document)).send({ title: 'New' }));
    await expectFailure(admin.get(urlOf(document)));
    await admin.get(documentsUrl).expect(200, list);
    await admin.get('/me/projects').expect(200);
    await app.anonymous.get('/healthz').expect(200);
    expect((await readiness().expect(503)).body).toEqual({
      status: 'unavailable',
      checks: { database: 'ok', object_storage: 'failed' },
    });
    await admin.delete(urlOf(deleted)).expect(204);

    proxy = await startS3Proxy(folder.endpoint, Number(port));
    await readiness().expect(200);
    await expectUnchanged([document]);
    expect(await caretaker.storedBodies()).toEqual([document.id, deleted.id]);
    await caretaker.sweepAll();
    expect(await caretaker.storedBodies()).toEqual([document.id]);
    await admin.put(urlOf(document)).send(change()).expect(200);
    await admin.post(documentsUrl).send(change()).expect(201);
  });
});

it('is checked once for concurrent readiness checks', async () => {
  let asked = 0;
  proxy.onRequest = () => {
    asked++;
    return 'hang';
  };
  const answers = await inParallel(20, readiness);
  expect(tally(answers.map(({ status }) => status))).toEqual({ 503: 20 });
  expect(asked).toBe(1);
  await proxy.recover();
  await readiness().expect(200); // runs a new check
});

describe('an object storage that hangs', () => {
  let documents: Document[];
  let deleted: Document;
  let deletedDuringUpdate: Document;
  let before: unknown;
  let failing: Promise<void[]>;
  let deleting: ReturnType<typeof timed>;
  let failed = false;

  beforeAll(async () => {
    documents = await inParallel(24, createDocument);
    deleted = await createDocument();
    deletedDuringUpdate = await createDocument();
    before = (await admin.get(documentsUrl).expect(200)).body;
    proxy.onRequest = () => 'hang';
    failing = Promise.all([
      expectFailure(admin.put(urlOf(deletedDuringUpdate)).send(change())),
      ...documents.map((document) => expectFailure(admin.put(urlOf(document)).send(change()))),
      ...documents
        .slice(0, 8)
        .map((document) => expectFailure(admin.put(urlOf(document)).send({ title: 'x' }))),
      ...documents.slice(0, 8).map((document) => expectFailure(admin.get(urlOf(document)))),
      ...Array.from({ length: 8 }, () => expectFailure(admin.post(documentsUrl).send(change()))),
    ]);
    failing.then(
      () => (failed = true),
      () => (failed = true),
    );
    await eventually(() => expect(proxy.waiting()).toBeGreaterThanOrEqual(HALF_OF_THE_POOL + 8 + 8));
    deleting = timed(admin.delete(urlOf(deletedDuringUpdate)));
  });
  afterAll(() => proxy.fail());

  it('occupies at most half of the database connections', async () => {
    await eventually(async () => {
      const held = await app.database.query(
        `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
           AND (state = 'idle in transaction' OR wait_event_type = 'Lock')`,
      );
      expect(held).toHaveLength(HALF_OF_THE_POOL);
    });
  });

  it('does not slow down lists, projects and sessions', async () => {
    const latencies: number[] = [];
    for (let i = 0; i < 20; i++) {
      const list = await timed(admin.get(documentsUrl));
      expect(list).toMatchObject({ status: 200, body: { documents: expect.anything() } });
      latencies.push(list.ms);
    }
    const crowd = await inParallel(20, () => timed(admin.get('/me/projects')));
    const newcomer = await timed((await app.as('newcomer')).get('/me/projects'));
    const created = await timed(admin.post('/me/projects').send({ name: 'Made meanwhile' }));
    const renamed = await timed(admin.put(`/me/projects/${projectId}`).send({ name: 'Renamed meanwhile' }));
    expect([newcomer.status, created.status, renamed.status]).toEqual([200, 201, 200]);
    expect(crowd.every(({ status }) => status === 200)).toBe(true);
    for (const { ms } of [...crowd, newcomer, created, renamed]) expect(ms).toBeLessThan(PROMPT_MS);
    for (const ms of latencies) expect(ms).toBeLessThan(PROMPT_MS);
    expect(failed).toBe(false);
  });

  it('does not prevent the deletion of a document', async () => {
    const { status, ms } = await timed(admin.delete(urlOf(deleted)));
    expect(status).toBe(204);
    expect(ms).toBeLessThan(PROMPT_REMOVAL_MS + PROMPT_MS);
    await admin.get(urlOf(deleted)).expect(404);
  });

  it('is named by the readiness check, while liveness succeeds', async () => {
    expect((await readiness().expect(503)).body.checks).toEqual({ database: 'ok', object_storage: 'failed' });
    await app.anonymous.get('/healthz').expect(200);
  });

  it('fails requests that need it within one timeout', async () => {
    await failing;
  });

  it('allows the deletion of a document whose update has waited for it', async () => {
    const { status, ms } = await deleting;
    expect(status).toBe(204);
    expect(ms).toBeLessThan(FAILURE_DEADLINE_MS + PROMPT_REMOVAL_MS);
  });

  it('has changed nothing, and works again without a restart', async () => {
    await eventually(() => expect(proxy.waiting()).toBe(0));
    await proxy.recover();
    await readiness().expect(200);
    await expectUnchanged(documents);
    const list = (await admin.get(documentsUrl).expect(200)).body;
    const others = (before as typeof list).documents.filter(
      ({ id }: Document) => id !== deleted.id && id !== deletedDuringUpdate.id,
    );
    expect(list.documents).toEqual(others);
    await caretaker.sweepAll();
    expect(await caretaker.storedBodies()).toEqual(others.map(({ id }: Document) => id));
    for (const document of documents) {
      const wanted = change();
      const { body } = await admin.put(urlOf(document)).send(wanted).expect(200);
      expect(body).toMatchObject(wanted);
    }
    await caretaker.expectNothingLeftBehind();
  });
});

describe('an object storage whose responses are lost', () => {
  afterEach(() => proxy.fail());

  it('leaves whole documents, whether it executed the request, executes it later, or never', async () => {
    const [stored, late, overtaken, deleted] = await inParallel(4, createDocument);
    const wanted = change();
    const created = change();
    proxy.onRequest = (method, key) => {
      if (method !== 'PUT') return 'pass';
      return [late, overtaken, deleted].some((document) => key === `documents/${document!.id}`)
        ? 'arrive late'
        : 'lose the response';
    };
    await Promise.all([
      expectFailure(admin.put(urlOf(stored!)).send(wanted)),
      expectFailure(admin.put(urlOf(late!)).send({ title: 'Late', content: 'late' })),
      expectFailure(admin.put(urlOf(overtaken!)).send({ title: 'Late', content: 'late' })),
      expectFailure(admin.put(urlOf(deleted!)).send({ title: 'Late', content: 'late' })),
      expectFailure(admin.post(documentsUrl).send(created)),
    ]);
    proxy.onRequest = () => 'pass';
    await admin.get(urlOf(late!)).expect(200, late);
    const { body: newer } = await admin.put(urlOf(overtaken!)).send(change()).expect(200);
    await admin.get(urlOf(overtaken!)).expect(200, newer);
    await admin.delete(urlOf(deleted!)).expect(204);
    await proxy.recover();

    // Each document is the result of one of its updates: the last one that arrived.
    expect((await admin.get(urlOf(stored!)).expect(200)).body).toMatchObject(wanted);
    for (const document of [late!, overtaken!]) {
      const { body } = await admin.get(urlOf(document)).expect(200);
      expect(body).toMatchObject({ title: 'Late', content: 'late' });
    }
    const { body: list } = await admin.get(documentsUrl).expect(200);
    const listed = new Map(list.documents.map(({ id, title }: Document) => [id, title]));
    expect(listed.get(stored!.id)).toBe('New');
    expect(listed.get(late!.id)).toBe('Late');
    expect(list.documents.map(({ slug }: Document) => slug)).not.toContain(created.slug);
    await caretaker.expectNothingLeftBehind();
  });
});

describe('an object storage that hangs for one document', () => {
  afterEach(() => proxy.fail());

  /** Creates a document whose updates hang until the storage fails. `over` tells whether all have ended. */
  async function hanging(
    updates: number,
    changes: object = change(),
  ): Promise<{ document: Document; over: () => boolean; all: Promise<unknown> }> {
    const document = await createDocument();
    proxy.onRequest = (_, key) => (key === `documents/${document.id}` ? 'hang' : 'pass');
    const all = inParallel(updates, () => admin.put(urlOf(document)).send(changes));
    let isOver = false;
    const first = Promise.race([all, eventually(() => expect(proxy.waiting()).toBe(1))]);
    all.then(
      () => (isOver = true),
      () => (isOver = true),
    );
    await first;
    return { document, over: () => isOver, all };
  }

  it('does not block writes of other documents, however many requests write that one', async () => {
    const other = await createDocument();
    const { over, all } = await hanging(3 * HALF_OF_THE_POOL);
    for (let i = 0; i < 5; i++) await admin.put(urlOf(other)).send(change()).expect(200);
    expect(over()).toBe(false);
    proxy.fail();
    await all;
  });

  it('does not exhaust the connections when others want the slug of its update', async () => {
    const { over, all } = await hanging(1, { slug: 'wanted', content: 'x' });
    const creations = inParallel(25, () => admin.post(documentsUrl).send({ title: 'x', slug: 'wanted' }));
    const other = (await personalOwner(app)).admin;
    for (let i = 0; i < 10; i++) await other.get('/me/projects').expect(200);
    expect(over()).toBe(false);
    proxy.fail();
    await all;
    expect(tally((await creations).map(({ status }) => status))).toEqual({ 201: 1, 409: 24 });
    await caretaker.sweepAll();
    await caretaker.expectNothingLeftBehind();
  });

  it('is not delayed by requests of other owners', async () => {
    const document = await createDocument();
    const stranger = await personalOwner(app);
    const { body: project } = await stranger.admin.post('/me/projects').send({ name: 'Own' }).expect(201);
    const holder = await connect(app.database);
    await holder.query('SELECT pg_advisory_lock($1::bigint)', [document.id]);
    try {
      const url = `/me/projects/${project.id}/documents/${document.id}`;
      await stranger.admin.put(url).send(change()).expect(404);
      await stranger.admin.put(url).send({ title: 'x' }).expect(404);
    } finally {
      await holder.end();
    }
  });

  it('does not exhaust the connections when its project is deleted and changed meanwhile', async () => {
    const { body: project } = await admin.post('/me/projects').send({ name: 'To be deleted' }).expect(201);
    const usual = documentsUrl;
    documentsUrl = `/me/projects/${project.id}/documents`;
    const { over, all } = await hanging(1);
    documentsUrl = usual;
    const url = `/me/projects/${project.id}`;
    const deletions = inParallel(25, () => admin.delete(url));
    const changes = inParallel(25, (i) => admin.put(url).send({ name: `Name ${i}` }));
    const other = (await personalOwner(app)).admin;
    for (let i = 0; i < 10; i++) await other.get('/me/projects').expect(200);
    expect(over()).toBe(false);
    proxy.fail();
    await all;
    expect(tally((await deletions).map(({ status }) => status))).toEqual({ 204: 1, 404: 24 });
    expect(Object.keys(tally((await changes).map(({ status }) => status)))).not.toContain('500');
    await caretaker.sweepAll();
    await caretaker.expectNothingLeftBehind();
  });
});

it('replaces a lost body, even after an update with an unknown outcome', async () => {
  const document = await createDocument();
  proxy.onRequest = (method) => (method === 'PUT' ? 'hang' : 'pass');
  const failing = expectFailure(admin.put(urlOf(document)).send(change()));
  await eventually(() => expect(proxy.waiting()).toBe(1));
  proxy.fail();
  await failing;
  await app.app.get(ObjectStore).put(`documents/${document.id}`, Buffer.from('of nobody'));
  await admin.get(urlOf(document)).expect(500, INTERNAL_ERROR);
  await admin.put(urlOf(document)).send({ title: 'New' }).expect(500, INTERNAL_ERROR);
  const { body } = await admin.put(urlOf(document)).send({ content: 'written anew' }).expect(200);
  await admin.get(urlOf(document)).expect(200, body);
});
