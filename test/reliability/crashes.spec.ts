import { Caretaker } from '../support/caretaker.js';
import { createDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { startS3 } from '../support/s3.js';
import { startService, temporaryFolder } from '../support/service.js';
import type { Service } from '../support/service.js';
import { Writer } from '../support/writer.js';

type Agent = Awaited<ReturnType<Service['as']>>;

interface Content {
  title: string;
  slug: string;
  content: string;
}

/** A project with two documents. */
interface Target {
  readonly project: string;
  readonly document: string;
}

const OTHER: Content = { title: 'Other', slug: 'other', content: 'nobody touches this\r\n\0' };
const OLD: Content = { title: 'Old', slug: 'old', content: 'the old body' };
const NEW: Content = { title: 'New', slug: 'new', content: 'the new body, which is longer' };

/** Operations on the target, and the expected documents of the project afterwards. */
const ACTIONS = {
  'a creation': {
    send: (agent: Agent, { project }: Target) => agent.post(`${project}/documents`).send(NEW),
    makes: [OTHER, OLD, NEW],
  },
  'an update': {
    send: (agent: Agent, { document }: Target) => agent.put(document).send(NEW),
    makes: [OTHER, NEW],
  },
  'an update of the content': {
    send: (agent: Agent, { document }: Target) => agent.put(document).send({ content: NEW.content }),
    makes: [OTHER, { ...OLD, content: NEW.content }],
  },
  'an update of title and slug': {
    send: (agent: Agent, { document }: Target) => agent.put(document).send({ title: 'New', slug: 'new' }),
    makes: [OTHER, { ...NEW, content: OLD.content }],
  },
  'a deletion': {
    send: (agent: Agent, { document }: Target) => agent.delete(document),
    makes: [OTHER],
  },
  'a deletion of the project': {
    send: (agent: Agent, { project }: Target) => agent.delete(project),
    makes: undefined,
  },
} as const;

type Crash = [action: keyof typeof ACTIONS, point: string, leaves: 'nothing of it' | 'all of it'];

const CRASHES: Crash[] = [
  ['a creation', 'create:reserved', 'nothing of it'],
  ['a creation', 'create:stored', 'nothing of it'],
  ['a creation', 'create:inserted', 'nothing of it'],
  ['a creation', 'create:committed', 'all of it'],
  ['an update', 'update:intent', 'nothing of it'],
  ['an update', 'update:changed', 'nothing of it'],
  ['an update', 'update:stored', 'all of it'],
  ['an update', 'update:committed', 'all of it'],
  ['an update of title and slug', 'update:changed', 'nothing of it'],
  ['a deletion', 'delete:noted', 'nothing of it'],
  ['a deletion', 'delete:committed', 'all of it'],
  ['a deletion of the project', 'delete project:noted', 'nothing of it'],
  ['a deletion of the project', 'delete project:committed', 'all of it'],
];
const FILE_CRASHES: Crash[] = [...CRASHES, ['an update', 'put:written', 'nothing of it']];
/** Crashes whose outcome may depend on the object storage. */
const S3_CRASHES: Crash[] = [
  ['a creation', 'create:stored', 'nothing of it'],
  ['an update', 'update:changed', 'nothing of it'],
  ['an update', 'update:stored', 'all of it'],
  ['an update of the content', 'update:stored', 'all of it'],
  ['a deletion', 'remove:deleted', 'all of it'],
];

/** Variables that select the storage, which outlives the service. */
const inFiles = () => Promise.resolve({ variables: {}, stop: () => Promise.resolve() });
const inS3 = async () => {
  const s3 = await startS3();
  const variables = {
    MINIO_ENDPOINT: s3.endpoint.href,
    MINIO_ACCESS_KEY: s3.accessKey,
    MINIO_SECRET_KEY: s3.secretKey,
  };
  return { variables, stop: () => s3.stop() };
};

describe.each([
  ['files', inFiles, FILE_CRASHES],
  ['S3', inS3, S3_CRASHES],
])('kill -9 amid operations, with documents in %s', (_, makeStorage, crashes) => {
  let storage: Awaited<ReturnType<typeof makeStorage>>;
  let database: TestDatabase;
  let dataDir: string;
  let caretaker: Caretaker;
  let targets: Target[];
  let service: Service;
  let agent: Agent;

  beforeAll(async () => {
    [storage, database, dataDir] = await Promise.all([makeStorage(), createDatabase(), temporaryFolder()]);
    caretaker = await Caretaker.start(database, dataDir, storage.variables);
    targets = await Promise.all(crashes.map((_crash, index) => makeTarget(index)));
    await crashDuringAll();
    service = await start();
    agent = await service.as('anna');
  });
  afterAll(async () => {
    await service.end('SIGTERM');
    await caretaker.close();
    await database.drop();
    await storage.stop();
  });

  const start = (variables: NodeJS.ProcessEnv = {}) =>
    startService(database.url, dataDir, { ...storage.variables, ...variables });

  async function makeTarget(index: number): Promise<Target> {
    const admin = await caretaker.as('anna');
    const { body: made } = await admin
      .post('/me/projects')
      .send({ name: `${index}` })
      .expect(201);
    const project = `/me/projects/${made.id}`;
    await admin.post(`${project}/documents`).send(OTHER).expect(201);
    const { body: document } = await admin.post(`${project}/documents`).send(OLD).expect(201);
    return { project, document: `${project}/documents/${document.id}` };
  }

  /** Runs all operations in one process. Each request is held at its crash point, and the process is killed at the last one. */
  async function crashDuringAll(): Promise<void> {
    const victim = await start({ CRASH_POINTS: crashes.map(([, point]) => point).join() });
    const user = await victim.as('anna');
    const held = () => victim.output().match(/held at/g)?.length ?? 0;
    const cut = [];
    for (const [index, [action]] of crashes.entries()) {
      await eventually(() => expect(held()).toBe(index));
      cut.push(expect(ACTIONS[action].send(user, targets[index]!)).rejects.toThrow('socket hang up'));
    }
    await Promise.all(cut);
    expect(await victim.exited).toEqual({ code: null, signal: 'SIGKILL' });
  }

  /** Undefined when the project does not exist. */
  async function documentsOf({ project }: Target): Promise<Content[] | undefined> {
    const { status, body } = await agent.get(`${project}/documents`);
    if (status === 404) return undefined;
    return Promise.all(
      body.documents.map(async ({ id }: { id: number }) => {
        const { title, slug, content } = (await agent.get(`${project}/documents/${id}`).expect(200)).body;
        return { title, slug, content };
      }),
    );
  }

  const expected = ([action, , leaves]: Crash) =>
    leaves === 'all of it' ? ACTIONS[action].makes : [OTHER, OLD];

  it.each(crashes.map((crash, index) => [...crash, index] as const))(
    'interrupts %s at %s and leaves %s',
    async (action, point, leaves, index) => {
      expect(await documentsOf(targets[index]!)).toEqual(expected([action, point, leaves]));
    },
  );

  it('leaves no orphan after the jobs have run, and no document without a body', async () => {
    expect((await caretaker.storedBodies()).length).toBeGreaterThan(0);
    await caretaker.expectNothingLeftBehind();
    for (const [index, crash] of crashes.entries()) {
      expect(await documentsOf(targets[index]!)).toEqual(expected(crash));
    }
  });

  it('leaves no locks', async () => {
    for (const [index, crash] of crashes.entries()) {
      const { project, document } = targets[index]!;
      const [, second] = expected(crash) ?? [];
      await agent
        .put(document)
        .send({ slug: 'again', content: 'again' })
        .expect(second ? 200 : 404);
      await agent.delete(project).expect(expected(crash) ? 204 : 404);
    }
    expect(await caretaker.storedBodies()).toEqual([]);
  });
});

describe.each([
  ['files', inFiles, 3],
  ['S3', inS3, 2],
])('kill -9 at any moment, with documents in %s', (_, makeStorage, rounds) => {
  const WRITERS = 6;
  const LONGEST_DELAY_MS = 200;

  it('loses no acknowledged write, and leaves neither half a write nor an orphan', async () => {
    const [storage, database, dataDir] = await Promise.all([
      makeStorage(),
      createDatabase(),
      temporaryFolder(),
    ]);
    const caretaker = await Caretaker.start(database, dataDir, storage.variables);
    const writers = Array.from({ length: WRITERS }, (_writer, index) => new Writer(`writer-${index}`));
    const acknowledged = () => writers.reduce((sum, writer) => sum + writer.acknowledged, 0);
    let service = await startService(database.url, dataDir, storage.variables);
    for (let round = 0; round < rounds; round++) {
      await Promise.all(writers.map((writer) => writer.connect(service)));
      const before = acknowledged();
      const work = writers.map((writer) => writer.writeUntilGone());
      await eventually(() => expect(acknowledged()).toBeGreaterThan(before + WRITERS));
      setTimeout(() => void service.end('SIGKILL'), Math.random() * LONGEST_DELAY_MS);
      await Promise.all(work);
      await service.exited;

      service = await startService(database.url, dataDir, storage.variables);
      await Promise.all(writers.map((writer) => writer.connect(service)));
      await Promise.all(writers.map((writer) => writer.verify()));
    }
    await caretaker.expectNothingLeftBehind();
    await Promise.all(writers.map((writer) => writer.verify()));
    await service.end('SIGTERM');
    await caretaker.close();
    await database.drop();
    await storage.stop();
  }, 300_000);
});
