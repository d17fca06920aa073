import { jest } from '@jest/globals';
import { setTimeout as pause } from 'node:timers/promises';
import { ScopesService } from '../../src/organizations/scope/scopes.service.js';
import { ObjectStore } from '../../src/storage/object-store.js';
import { startApp } from '../support/app.js';
import type { Agent, TestApp } from '../support/app.js';
import { beginLogin } from '../support/device-flow.js';
import { join, teamOwner } from '../support/owners.js';
import type { TestOwner } from '../support/owners.js';
import { inParallel, tally } from '../support/parallel.js';
import { connectRaw, statusesIn } from '../support/raw-client.js';
import { sessionFor } from '../support/sessions.js';

/** Updates of documents wait for locks as long, which takes a busy machine longer than the usual 5 s. */
const LIMITS = { storageTimeoutMs: 60_000 };

let app: TestApp;
/** Serves the administrator who takes the role away. */
let replica: TestApp;
let count = 0;

beforeAll(async () => {
  app = await startApp({}, {}, LIMITS);
  replica = await startApp({}, app, LIMITS);
});
afterAll(async () => {
  await replica.close();
  await app.close();
});

afterEach(() => {
  jest.restoreAllMocks();
});

const UPSTREAM = { name: 'u', base_url: 'https://1.1.1.1/v1', api_key: 'sk-of-the-upstream' };
const NOT_FOUND = { status: 404, message: 'organization not found' };
const TABLES = [
  ...['organizations', 'memberships', 'invitations', 'audit_events', 'projects', 'documents', 'upstreams'],
  ...['proxy_keys', 'device_sessions', 'document_updates', 'object_deletions'],
];

/** A team, a second administrator of it, and one object of each kind. */
interface Scene {
  readonly team: TestOwner;
  readonly founder: Agent;
  readonly user: string;
  readonly agent: Agent;
  readonly project: string;
  readonly document: string;
  readonly upstream: string;
  readonly key: string;
  readonly userCode: string;
}

async function setScene(): Promise<Scene> {
  const team = await teamOwner(app);
  const user = `loser-${++count}`;
  const agent = await join(app, team, user, 'admin');
  const create = async (path: string, body: object) => {
    const url = `${team.base}/${path}`;
    return `${url}/${(await team.admin.post(url).send(body).expect(201)).body.id}`;
  };
  const project = await create('projects', { name: 'p' });
  const { body: key } = await agent.post(`${team.base}/keys`).expect(201);
  return {
    ...{ team, user, agent, project, founder: await replica.as(team.user) },
    document: await create(`${project.slice(team.base.length + 1)}/documents`, {
      ...{ title: 't', slug: 's', content: 'old' },
    }),
    upstream: await create('upstreams', UPSTREAM),
    key: `/me/keys/${key.id}`,
    userCode: (await beginLogin(app)).user_code,
  };
}

/** Every row that a request could change. */
async function stored(): Promise<string[]> {
  const rows = await Promise.all(
    TABLES.map((table) =>
      app.database.query<{ row: string }>(`SELECT '${table} ' || to_jsonb(t)::text AS row FROM ${table} t`),
    ),
  );
  return rows.flatMap((table) => table.map(({ row }) => row)).sort();
}

const demote = ({ founder, team, user }: Scene) =>
  founder.put(`${team.base}/members/${user}`).send({ role: 'member' }).expect(200);
const remove = ({ founder, team, user }: Scene) => founder.delete(`${team.base}/members/${user}`).expect(200);

/** Resolves when the guard of the next request has read the role. */
function roleRead(): Promise<void> {
  const scopes = app.app.get(ScopesService);
  const scope = jest.spyOn(scopes, 'findScope');
  return new Promise((resolve) => {
    scope.mockImplementationOnce(async (user, organizationId) => {
      scope.mockRestore();
      const found = await scopes.findScope(user, organizationId);
      setImmediate(resolve);
      return found;
    });
  });
}

/** Sends headers and half of a body, does `work`, and sends the rest. */
async function heldBack(
  user: string,
  { method, path, body }: { method: string; path: string; body: object },
  work: () => PromiseLike<unknown>,
  passed: Promise<void>,
): Promise<{ status: number; message: string }> {
  const text = JSON.stringify(body);
  const headers = [
    `${method} ${path} HTTP/1.1`,
    ...[`Host: localhost`, `Authorization: Bearer ${await sessionFor(user)}`, 'Connection: close'],
    `Content-Length: ${text.length}`,
  ];
  const client = await connectRaw(app, `${headers.join('\r\n')}\r\n\r\n${text.slice(0, 5)}`);
  await passed;
  await work();
  client.socket.write(text.slice(5));
  const response = await client.closed;
  const [, message = ''] = /"message":"([^"]*)"/.exec(response) ?? [];
  return { status: statusesIn(response)[0]!, message };
}

describe('a request whose body arrives late', () => {
  type Route = [string, (scene: Scene) => { method: string; path: string; body: object }];

  const ADMIN_ROUTES: Route[] = [
    ['rename the organization', ({ team }) => ({ method: 'PUT', path: team.base, body: { name: 'Taken' } })],
    [
      'change roles',
      ({ team }) => ({
        method: 'PUT',
        path: `${team.base}/members/${team.user}`,
        body: { role: 'member' },
      }),
    ],
    [
      'invite members',
      ({ team }) => ({
        method: 'POST',
        path: `${team.base}/invite`,
        body: { email: 'friend@example.com', role: 'admin' },
      }),
    ],
    [
      'create projects',
      ({ team }) => ({ method: 'POST', path: `${team.base}/projects`, body: { name: 'new' } }),
    ],
    ['update projects', ({ project }) => ({ method: 'PUT', path: project, body: { description: 'new' } })],
    [
      'create documents',
      ({ project }) => ({
        method: 'POST',
        path: `${project}/documents`,
        body: { title: 'new', slug: 'new', content: 'new' },
      }),
    ],
    ['update documents', ({ document }) => ({ method: 'PUT', path: document, body: { content: 'new' } })],
    ['update documents', ({ document }) => ({ method: 'PUT', path: document, body: { title: 'new' } })],
    [
      'create upstreams',
      ({ team }) => ({ method: 'POST', path: `${team.base}/upstreams`, body: { ...UPSTREAM, name: 'new' } }),
    ],
    ['update upstreams', ({ upstream }) => ({ method: 'PUT', path: upstream, body: { enabled: false } })],
  ];
  const MEMBER_ROUTES: Route[] = [
    ['mint keys', ({ team }) => ({ method: 'POST', path: `${team.base}/keys`, body: { name: 'new' } })],
  ];

  async function overtaken([, route]: Route, change: typeof remove) {
    const scene = await setScene();
    let before: string[] = [];
    const passed = roleRead();
    const answer = await heldBack(
      scene.user,
      route(scene),
      async () => {
        await change(scene);
        before = await stored();
      },
      passed,
    );
    expect(await stored()).toEqual(before);
    const { body } = await scene.founder.get(scene.document).expect(200);
    expect(body.content).toBe('old');
    return answer;
  }

  it.each([...ADMIN_ROUTES, ...MEMBER_ROUTES])('cannot %s after a removal', async (...route) => {
    expect(await overtaken(route, remove)).toEqual(NOT_FOUND);
  });

  it.each(ADMIN_ROUTES)('cannot %s after a demotion', async (...route) => {
    const message = `only admins can ${route[0]}`;
    expect(await overtaken(route, demote)).toEqual({ status: 403, message });
  });

  const OWN_ROUTES: Route[] = [
    ['rename a key', ({ key }) => ({ method: 'PUT', path: key, body: { name: 'new' } })],
    [
      'mint a key by its organization’s id',
      ({ team }) => ({
        method: 'POST',
        path: '/me/keys',
        body: { organization_id: team.organizationId },
      }),
    ],
    [
      'approve a device',
      ({ team, userCode }) => ({
        method: 'POST',
        path: `/me/device-requests/${userCode}/approve`,
        body: { organization_id: team.organizationId },
      }),
    ],
  ];

  it.each(OWN_ROUTES)('cannot %s after a removal', async (_what, route) => {
    const scene = await setScene();
    let before: string[] = [];
    const work = async () => {
      await remove(scene);
      before = await stored();
    };
    expect(await heldBack(scene.user, route(scene), work, Promise.resolve())).toEqual(NOT_FOUND);
    expect(await stored()).toEqual(before);
  });
});

describe('continuous writing by a member', () => {
  const WRITERS = 8;
  const ROUNDS = 6;

  /** Reads the team's projects, documents and upstreams as a client sees them. */
  async function seen({ founder, team, project, document }: Scene) {
    const paths = [`${team.base}/projects`, `${project}/documents`, document, `${team.base}/upstreams`];
    const answers = await Promise.all(paths.map((path) => founder.get(path).expect(200)));
    return answers.map(({ body }) => body as object);
  }

  /** Writes until a response rejects the write, and returns its status. On a busy machine a row may be locked for too long (500). */
  async function writeOn({ agent, team, project, document, upstream }: Scene, writer: number) {
    for (let i = 0; ; i++) {
      const name = `${writer}-${i}`;
      const requests = [
        () => agent.post(`${team.base}/projects`).send({ name }),
        () => agent.post(`${project}/documents`).send({ title: 't', slug: name, content: name }),
        () => agent.put(document).send({ content: name }),
        () => agent.put(document).send({ title: name }),
        () => agent.put(upstream).send({ priority: i }),
        () => agent.put(project).send({ description: name }),
      ];
      const { status } = await requests[(writer + i) % requests.length]!();
      if (status >= 400 && status !== 500) return status;
    }
  }

  it.each([
    ['a removal', remove, 404],
    ['a demotion', demote, 403],
  ])('does not delay %s, which prevents further writes', async (_what, change, status) => {
    for (let round = 0; round < ROUNDS; round++) {
      const scene = await setScene();
      const writing = inParallel(WRITERS, (writer) => writeOn(scene, writer));
      for (let i = 0; i < round; i++) await scene.founder.get(scene.document).expect(200);
      await change(scene);
      const after = await seen(scene);
      expect(tally(await writing)).toEqual({ [status]: WRITERS });
      expect(await seen(scene)).toEqual(after);
    }
  });

  it('lets another member be invited and accept without a pause', async () => {
    const scene = await setScene();
    const writing = inParallel(WRITERS, (writer) => writeOn(scene, writer));
    for (let i = 0; i < 5; i++) await join(replica, scene.team, `joiner-${++count}`, 'member');
    await remove(scene);
    expect(tally(await writing)).toEqual({ 404: WRITERS });
  });

  it('does not delay a removal for ever if the writes overlap', async () => {
    const scene = await setScene();
    const { agent, project } = scene;
    const urls = await inParallel(WRITERS, async (i) => {
      const fields = { title: 't', slug: `own-${i}`, content: 'old' };
      const { body } = await agent.post(`${project}/documents`).send(fields).expect(201);
      return `${project}/documents/${body.id}`;
    });
    const store = app.app.get(ObjectStore);
    const put = store.put.bind(store);
    jest.spyOn(store, 'put').mockImplementation(async (...values) => {
      await pause(20); // the transaction is open meanwhile
      return put(...values);
    });
    const writing = inParallel(WRITERS, async (writer) => {
      for (let i = 0; ; i++) {
        const { status } = await agent.put(urls[writer]!).send({ content: `${i}` });
        if (status >= 400) return status;
      }
    });
    await remove(scene);
    expect(tally(await writing)).toEqual({ 404: WRITERS });
  });

  it('does not delay the deletion of the organization', async () => {
    const scene = await setScene();
    const writing = inParallel(WRITERS, (writer) => writeOn(scene, writer));
    await scene.founder.delete(scene.team.base).expect(200);
    expect(tally(await writing)).toEqual({ 404: WRITERS });
  });
});
