import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { runCommand } from '../../src/commands/run-command.js';
import { errorMessage } from '../../src/common/logging/error-message.js';
import { ObjectCheck } from '../../src/documents/check/object-check.js';
import { DeletionQueue } from '../../src/storage/deletion-queue.js';
import { ObjectStore } from '../../src/storage/object-store.js';
import { StorageUnavailable } from '../../src/storage/storage.errors.js';
import { startApp, testVariables } from '../support/app.js';
import type { Agent, TestApp } from '../support/app.js';
import { createDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { keysOf } from '../support/object-store-contract.js';
import { inParallel } from '../support/parallel.js';
import { startS3 } from '../support/s3.js';
import { undisturbed } from '../support/standstill.js';
import { Writer } from '../support/writer.js';

/** More than one batch; s3rver fails to list more than a page of 1,000: pages are tested with the adapter. */
const MANY = { files: 1_100, S3: 600 };
const NOBODYS = 'documents/900000000000000';
const sha256 = (text: string) => createHash('sha256').update(text).digest();

interface Result {
  readonly code: number;
  readonly lines: readonly string[];
}

const inFiles = () => Promise.resolve({ variables: {}, stop: () => Promise.resolve() });
const inS3 = async () => {
  const s3 = await startS3();
  const { endpoint, accessKey, secretKey } = s3;
  const variables = {
    ...{ MINIO_ENDPOINT: endpoint.href, MINIO_ACCESS_KEY: accessKey, MINIO_SECRET_KEY: secretKey },
  };
  return { variables, stop: () => s3.stop() };
};

describe.each([
  ['files', inFiles],
  ['S3', inS3],
] as const)('verify-storage, with documents in %s,', (kind, makeStorage) => {
  let storage: Awaited<ReturnType<typeof makeStorage>>;
  let app: TestApp;
  let store: ObjectStore;
  let anna: Agent;
  let documents: string;

  beforeEach(async () => {
    storage = await makeStorage();
    app = await startApp(storage.variables, {}, { storageTimeoutMs: 60_000 });
    store = app.app.get(ObjectStore, { strict: false });
    anna = await app.as('anna');
    const { body } = await anna.post('/me/projects').send({ name: 'Handbook' }).expect(201);
    documents = `/me/projects/${body.id}/documents`;
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await app.close();
    await storage.stop();
  });

  async function verify(args: string[] = [], variables: NodeJS.ProcessEnv = {}): Promise<Result> {
    const lines: string[] = [];
    const all = { ...testVariables(app.database.url, app.dataDir), ...storage.variables, ...variables };
    const code = await runCommand(['verify-storage', ...args], all, (line) => lines.push(line));
    return { code, lines };
  }

  async function create(slug: string): Promise<number> {
    const content = `the content of ${slug}`;
    const { body } = await anna.post(documents).send({ title: 'Title', slug, content }).expect(201);
    return body.id as number;
  }

  const content = async (id: number) => (await anna.get(`${documents}/${id}`).expect(200)).body.content;
  const clean = (count: number): Result => ({
    code: 0,
    lines: [`${count} documents and ${count} objects checked`, '0 wrong, 0 repaired'],
  });

  it('reports no problem if there is none', async () => {
    expect(await verify()).toEqual(clean(0));
    await create('first');
    await create('second');
    expect(await verify()).toEqual(clean(2));
    expect(await verify(['--repair'])).toEqual(clean(2));
  });

  it('names problems by id, and repairs those that can be repaired', async () => {
    const [whole, missing, altered] = [
      await create('whole'),
      await create('missing'),
      await create('altered'),
    ];
    await store.delete(`documents/${missing}`);
    await store.put(`documents/${altered}`, Buffer.from('something else'));
    await store.put(NOBODYS, Buffer.from('the body of nothing'));
    await store.put('documents/README', Buffer.from('not ours'));
    const lost = [
      `document ${missing}: its body is missing; restore it from a backup, or delete the document`,
      `document ${altered}: its body has changed (SHA-256); restore it from a backup, or write the document again`,
      'documents/README: not the body of a document; it is ignored',
    ];

    const found = await verify();
    expect(found.code).toBe(1);
    expect([...found.lines].sort()).toEqual(
      [
        ...lost,
        `${NOBODYS}: a body without a document`,
        '3 documents and 4 objects checked',
        '4 wrong, 0 repaired',
      ].sort(),
    );
    expect((await store.get(NOBODYS))?.toString()).toBe('the body of nothing');

    const repaired = await verify(['--repair']);
    expect(repaired.code).toBe(1);
    expect([...repaired.lines].sort()).toEqual(
      [
        ...lost,
        `${NOBODYS}: a body without a document was deleted`,
        '3 documents and 4 objects checked',
        '3 wrong, 1 repaired',
      ].sort(),
    );
    expect(await store.get(NOBODYS)).toBeUndefined();
    expect(await app.database.query('SELECT * FROM object_deletions')).toEqual([]);
    expect((await store.get(`documents/${altered}`))?.toString()).toBe('something else');
    expect(await content(whole)).toBe('the content of whole');

    await store.put(`documents/${missing}`, Buffer.from('the content of missing')); // from the backup
    await anna.delete(`${documents}/${altered}`).expect(204);
    await store.delete('documents/README');
    expect(await verify()).toEqual(clean(2));
  });

  it('deletes nothing if most bodies have no document, because the database may be the wrong one', async () => {
    for (const slug of ['first', 'second', 'third']) await create(slug);
    const other = await createDatabase();
    try {
      const repair = () => verify(['--repair'], { DATABASE_URL: other.url });
      await expect(repair()).rejects.toThrow(
        'nothing was deleted: 0 documents have their bodies, and more bodies than that have no document',
      );
      expect((await verify([], { DATABASE_URL: other.url })).lines.at(-1)).toBe('3 wrong, 0 repaired');
      await copyDocument(app.database, other);
      await expect(repair()).rejects.toThrow('nothing was deleted: 1 documents have their bodies');
    } finally {
      await other.drop();
    }
    expect(await verify(['--repair'])).toEqual(clean(3));
  });

  it("rejects another system's store, and leaves no claim", async () => {
    await create('first');
    const other = await createDatabase({ empty: true });
    const verifyOther = (args: string[]) => verify(args, { DATABASE_URL: other.url });
    try {
      await runCommand(['migrate'], testVariables(other.url, app.dataDir), () => undefined);
      for (const args of [[], ['--repair']]) {
        await expect(verifyOther(args)).rejects.toThrow(
          /^(DATA_DIR|MINIO_BUCKET) \S+ belongs to another system than the database \(DATABASE_URL\)/,
        );
      }
      for (const claim of await keysOf(store, 'systems/')) await store.delete(claim);
      expect((await verifyOther([])).lines[0]).toBe('documents/1: a body without a document');
      expect(await keysOf(store)).toEqual(['documents/1']);
    } finally {
      await other.drop();
    }
  });

  it('creates neither bucket nor folder, and does not treat a missing one as empty', async () => {
    await create('first');
    const elsewhere = await mkdtemp(join(tmpdir(), 'mintkeep-elsewhere-'));
    try {
      const [variables, reason] =
        kind === 'S3'
          ? [{ MINIO_BUCKET: 'elsewhere' }, 'the bucket elsewhere does not exist']
          : [{ DATA_DIR: elsewhere }, `${elsewhere}/objects is not a folder of objects`];
      for (const args of [[], ['--repair']]) {
        const failure: unknown = await verify(args, variables).catch((error: unknown) => error);
        expect(errorMessage(failure)).toContain(reason);
      }
      expect(await readdir(elsewhere)).toEqual([]);
    } finally {
      await rm(elsewhere, { recursive: true });
    }
  });

  it('reports an update that stored its body and did not commit, and completes it', async () => {
    const id = await create('old');
    await app.database.query(
      `INSERT INTO document_updates (document_id, title, body_sha256, body_size) VALUES ($1, 'New', $2, 8)`,
      [id, sha256('new body')],
    );
    await store.put(`documents/${id}`, Buffer.from('new body'));

    const found = await verify();
    expect(found.code).toBe(0);
    expect(found.lines[0]).toContain(`document ${id}: an update stored its body and was interrupted`);
    expect(await app.database.query('SELECT title FROM documents')).toEqual([{ title: 'Title' }]);

    const repaired = await verify(['--repair']);
    expect(repaired.code).toBe(0);
    expect(repaired.lines).toEqual([
      `document ${id}: an interrupted update was completed`,
      '1 documents and 1 objects checked',
      '0 wrong, 1 repaired',
    ]);
    expect((await anna.get(`${documents}/${id}`)).body).toMatchObject({ title: 'New', content: 'new body' });
    expect(await verify()).toEqual(clean(1));
  });

  it('does not report a body as deleted if the deletion failed', async () => {
    await create('first');
    await store.put(NOBODYS, Buffer.from('the body of nothing'));
    jest.spyOn(ObjectStore.prototype, 'delete').mockRejectedValue(new StorageUnavailable('delete failed'));
    expect(await verify(['--repair'])).toEqual({
      code: 1,
      lines: [
        `${NOBODYS}: a body without a document; it could not be deleted, and the service will retry`,
        '1 documents and 2 objects checked',
        '1 wrong, 0 repaired',
      ],
    });
    jest.restoreAllMocks();
    await app.app.get(DeletionQueue, { strict: false }).sweep();
    expect(await verify()).toEqual(clean(1));
  });

  it('ignores bodies that are being stored or deleted', async () => {
    await app.database.query(
      `INSERT INTO object_deletions (key, due_at) VALUES ($1, now() + interval '1 hour')`,
      [NOBODYS],
    );
    await store.put(NOBODYS, Buffer.from('a creation that is under way'));
    expect(await verify(['--repair'])).toEqual({
      code: 0,
      lines: ['0 documents and 1 objects checked', '0 wrong, 0 repaired'],
    });
    expect(await app.app.get(ObjectCheck, { strict: false }).release(NOBODYS)).toBe('kept'); // noted a moment ago
    expect(await store.get(NOBODYS)).toBeDefined();
  });

  it('keeps the body of a document that was created first', async () => {
    const id = await create('quick');
    const check = app.app.get(ObjectCheck, { strict: false });
    expect(await check.release(`documents/${id}`)).toBe('kept');
    expect(await content(id)).toBe('the content of quick');
    expect(await app.database.query('SELECT * FROM object_deletions')).toEqual([]);
  });

  it('names unreadable objects, checks the rest, and exits with a failure', async () => {
    const [broken, altered] = [await create('broken'), await create('altered')];
    await create('whole');
    await store.put(`documents/${altered}`, Buffer.from('something else'));
    await store.put(NOBODYS, Buffer.from('the body of nothing'));
    breakReads([`documents/${broken}`, NOBODYS]);
    for (const args of [[], ['--repair']]) {
      const { code, lines } = await verify(args);
      expect(code).toBe(2);
      expect([...lines].sort()).toEqual(
        [
          `document ${broken}: cannot be read (object storage: get documents/${broken} failed: EIO)`,
          `document ${altered}: its body has changed (SHA-256); restore it from a backup, or write the document again`,
          `${NOBODYS}: cannot be read (object storage: get ${NOBODYS} failed: EIO)`,
          '3 documents and 4 objects checked',
          '1 wrong, 0 repaired',
          '2 could not be read',
        ].sort(),
      );
    }
  });

  it('reports no problem while documents are created, changed and deleted', async () => {
    const writers = Array.from({ length: 6 }, (_writer, index) => new Writer(`writer-${index}`));
    await Promise.all(writers.map((writer) => writer.connect(app)));
    let over = false;
    const work = writers.map((writer) => writer.writeWhile(() => !over));
    try {
      for (let round = 0; round < 5; round++) {
        await undisturbed(async () => {
          const { code, lines } = await verify(['--repair']);
          expect(lines.slice(0, -2)).toEqual([]);
          expect(lines.at(-1)).toBe('0 wrong, 0 repaired');
          expect(code).toBe(0);
        });
      }
    } finally {
      over = true;
      await Promise.all(work);
    }
    expect(writers.every(({ failed }) => failed === 0)).toBe(true);
    await Promise.all(writers.map((writer) => writer.verify()));
  }, 600_000);

  it('checks more than one batch', async () => {
    const many = MANY[kind];
    const id = await create('first');
    await app.database.query(
      `INSERT INTO documents (id, organization_id, project_id, title, slug, body_sha256, body_size)
       SELECT id + n, organization_id, project_id, title, 'copy-' || n, body_sha256, body_size
       FROM documents, generate_series(1, $1::int) AS n`,
      [many],
    );
    const body = Buffer.from('the content of first');
    let next = 0;
    await inParallel(16, async () => {
      while (next < many) await store.put(`documents/${id + ++next}`, body);
    });
    await undisturbed(async () => expect(await verify()).toEqual(clean(many + 1)));
    await store.delete(`documents/${id + many}`);
    await undisturbed(async () =>
      expect((await verify()).lines[0]).toContain(`document ${id + many}: its body is missing`),
    );
  }, 600_000);
});

/** The first one, with all that it needs. */
async function copyDocument(from: TestDatabase, to: TestDatabase): Promise<void> {
  const tables = ['users', 'organizations', 'projects', 'documents'];
  for (const table of tables) {
    const [row] = await from.query(`SELECT to_jsonb(t) AS row FROM ${table} t ORDER BY id LIMIT 1`);
    await to.query(`INSERT INTO ${table} SELECT * FROM jsonb_populate_record(NULL::${table}, $1)`, [
      row!.row,
    ]);
  }
}

/** Replaces reads of some objects by errors, like a bad sector of a disk. */
function breakReads(keys: readonly string[]): void {
  const get = Reflect.get<ObjectStore, 'get'>(ObjectStore.prototype, 'get');
  jest.spyOn(ObjectStore.prototype, 'get').mockImplementation(function (this: ObjectStore, key, signal) {
    if (keys.includes(key))
      return Promise.reject(new StorageUnavailable(`get ${key} failed`, new Error('EIO')));
    return get.call(this, key, signal);
  });
}
