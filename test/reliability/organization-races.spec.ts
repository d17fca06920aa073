import { readdir } from 'node:fs/promises';
import type { Client } from 'pg';
import type { Test } from 'supertest';
import { DeletionQueue } from '../../src/storage/deletion-queue.js';
import { startApp } from '../support/app.js';
import type { Agent, TestApp } from '../support/app.js';
import { connect, lockedOut } from '../support/database.js';
import { beginLogin } from '../support/device-flow.js';
import { storedStatus } from '../support/invitations.js';
import { invite, join, teamOwner } from '../support/owners.js';
import type { TestOwner } from '../support/owners.js';
import { inParallel, tally } from '../support/parallel.js';
import { emailOf } from '../support/sessions.js';

/** Updates of documents wait for locks as long, which takes a busy machine longer than the usual 5 s. */
const LIMITS = { storageTimeoutMs: 60_000 };

let app: TestApp;
/** Half of what happens at once happens here. */
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

const UPSTREAM = { name: 'u', base_url: 'https://1.1.1.1/v1', api_key: 'sk-of-the-upstream' };

const newUser = () => `racer-${++count}`;
const statuses = (answers: { status: number }[]) => answers.map(({ status }) => status);
const accept = (agent: Agent, token: string) => agent.post('/me/invitations/accept').send({ token });

/** Reads the members and their roles from the table. */
async function roles({ organizationId }: TestOwner): Promise<Record<string, string>> {
  const rows = await app.database.query<{ user_id: string; role: string }>(
    'SELECT user_id, role FROM memberships WHERE organization_id = $1 ORDER BY user_id',
    [organizationId],
  );
  return Object.fromEntries(rows.map(({ user_id, role }) => [user_id, role]));
}

/** Oldest first. */
async function actions({ organizationId }: TestOwner): Promise<string[]> {
  const rows = await app.database.query<{ action: string }>(
    'SELECT action FROM audit_events WHERE organization_id = $1 ORDER BY id',
    [organizationId],
  );
  return rows.map(({ action }) => action);
}

describe('an admin remains when', () => {
  type Roles = Record<string, string>;

  interface Move {
    send(agent: Agent, members: string, own: string, other: string): Test;
    /** Roles after the move alone. */
    make(roles: Roles, own: string, other: string): Roles;
  }

  const without = (roles: Roles, user: string) =>
    Object.fromEntries(Object.entries(roles).filter(([id]) => id !== user));
  const MOVES: Record<string, Move> = {
    'demotes the other': {
      send: (agent, members, _own, other) => agent.put(`${members}/${other}`).send({ role: 'member' }),
      make: (roles, _own, other) => (other in roles ? { ...roles, [other]: 'member' } : roles),
    },
    'removes the other': {
      send: (agent, members, _own, other) => agent.delete(`${members}/${other}`),
      make: (roles, _own, other) => without(roles, other),
    },
    'demotes itself': {
      send: (agent, members) => agent.put(`${members}/me`).send({ role: 'member' }),
      make: (roles, own) => ({ ...roles, [own]: 'member' }),
    },
    leaves: {
      send: (agent, members) => agent.delete(`${members}/me`),
      make: (roles, own) => without(roles, own),
    },
  };

  /** Status of a move and the roles after it, by the rules. */
  function judge(name: string, roles: Roles, own: string, other: string): [number, Roles] {
    if (!(own in roles)) return [404, roles];
    if (name !== 'leaves' && roles[own] !== 'admin') return [403, roles];
    if (name.endsWith('the other') && !(other in roles)) return [404, roles];
    const after = MOVES[name]!.make(roles, own, other);
    return Object.values(after).includes('admin') ? [200, after] : [409, roles];
  }

  /** Possible outcomes of two moves: one after the other, in either order. */
  function outcomes([first, second]: readonly [string, string], [a, b]: [string, string]) {
    const start = { [a]: 'admin', [b]: 'admin' };
    const [s1, between] = judge(first, start, a, b);
    const [s2, end] = judge(second, between, b, a);
    const [t2, middle] = judge(second, start, b, a);
    const [t1, last] = judge(first, middle, a, b);
    return [
      { statuses: [s1, s2], roles: end },
      { statuses: [t1, t2], roles: last },
    ];
  }

  const names = Object.keys(MOVES);
  const pairs = names.flatMap((one, i) => names.slice(i).map((other) => [one, other] as const));

  it.each(pairs)('the first %s and the second %s', async (...pair) => {
    await inParallel(8, async () => {
      const team = await teamOwner(app);
      const user = newUser();
      await join(app, team, user, 'admin');
      const other = await replica.as(user);
      const members = `${team.base}/members`;
      const answers = await Promise.all([
        MOVES[pair[0]]!.send(team.admin, members, team.user, user),
        MOVES[pair[1]]!.send(other, members, user, team.user),
      ]);
      const outcome = { statuses: statuses(answers), roles: await roles(team) };
      expect(Object.values(outcome.roles)).toContain('admin');
      expect(outcomes(pair, [team.user, user])).toContainEqual(outcome);
    });
  });

  it('five admins all leave', async () => {
    await inParallel(5, async () => {
      const team = await teamOwner(app);
      const agents = [team.admin];
      for (let i = 0; i < 4; i++) agents.push(await join(app, team, newUser(), 'admin'));
      const answers = await Promise.all(agents.map((agent) => agent.delete(`${team.base}/members/me`)));
      expect(tally(statuses(answers))).toEqual({ 200: 4, 409: 1 });
      expect(Object.values(await roles(team))).toEqual(['admin']);
    });
  });
});

it('20 acceptances of one token create one membership and get the same response', async () => {
  for (let round = 0; round < 6; round++) {
    const team = await teamOwner(app);
    const user = newUser();
    const { token, id } = await invite(team, emailOf(user));
    const agents = [await app.as(user), await replica.as(user)];
    const answers = await inParallel(20, (i) => accept(agents[i % 2]!, token));
    expect(tally(statuses(answers))).toEqual({ 200: 20 });
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(await roles(team)).toEqual({ [team.user]: 'admin', [user]: 'member' });
    expect(await storedStatus(app.database, id)).toBe('accepted');
    expect(await actions(team)).toEqual(['organization.created', 'invitation.created', 'member.joined']);
  }
});

it('a single user of several with the invited address becomes a member', async () => {
  for (let round = 0; round < 5; round++) {
    const team = await teamOwner(app);
    const { token } = await invite(team, 'shared@example.com');
    const agents = await inParallel(6, (i) =>
      (i % 2 ? app : replica).as(newUser(), { email: 'shared@example.com' }),
    );
    const answers = await Promise.all(agents.map((agent) => accept(agent, token)));
    expect(tally(statuses(answers))).toEqual({ 200: 1, 409: 5 });
    expect(Object.keys(await roles(team))).toHaveLength(2);
  }
});

it('a single invitation of 20 for one address is created', async () => {
  for (let round = 0; round < 5; round++) {
    const team = await teamOwner(app);
    const admins = [team.admin, await replica.as(team.user)];
    const answers = await inParallel(20, (i) =>
      admins[i % 2]!.post(`${team.base}/invite`).send({ email: 'one@example.com', role: 'member' }),
    );
    expect(tally(answers.map(({ status, body }) => body.error?.type ?? status))).toEqual({
      201: 1,
      invitation_pending: 19,
    });
    expect(await actions(team)).toEqual(['organization.created', 'invitation.created']);
  }
});

describe('an invitation has one outcome, the same everywhere, when it is accepted and', () => {
  const ROUNDS = 12;

  /** Somebody accepts on one replica while an admin does something else on the other. */
  async function race(rival: (admin: Agent, team: TestOwner, id: number) => Test) {
    const team = await teamOwner(app);
    const user = newUser();
    const guest = await app.as(user);
    await guest.get('/me/organizations').expect(200); // so that both are equally fast
    const { token, id } = await invite(team, emailOf(user));
    const admin = await replica.as(team.user);
    const [accepted, other] = await Promise.all([accept(guest, token), rival(admin, team, id)]);
    const members = Object.keys(await roles(team));
    return {
      ...{ team, id, guest, token, accepted, other, isMember: members.includes(user) },
      stored: await storedStatus(app.database, id),
      answers: [accepted, other].map(({ status, body }) => body.error?.type ?? status),
    };
  }

  it('cancelled', async () => {
    const results = await inParallel(ROUNDS, () =>
      race((admin, { base }, id) => admin.delete(`${base}/invitations/${id}`)),
    );
    for (const { team, guest, token, answers, stored, isMember } of results) {
      const made = { answers, stored, isMember, last: (await actions(team)).slice(2) };
      expect([
        {
          answers: [200, 'invitation_not_pending'],
          stored: 'accepted',
          isMember: true,
          last: ['member.joined'],
        },
        {
          ...{ answers: ['invitation_cancelled', 204], stored: 'cancelled', isMember: false },
          last: ['invitation.cancelled'],
        },
      ]).toContainEqual(made);
      await guest.get(team.base).expect(isMember ? 200 : 404);
      await accept(guest, token).expect(isMember ? 200 : 410);
    }
  });

  it('declined', async () => {
    const results = await inParallel(ROUNDS, async () => {
      const team = await teamOwner(app);
      const user = newUser();
      const [guest, same] = [await app.as(user), await replica.as(user)];
      const { token, id } = await invite(team, emailOf(user));
      const [accepted, declined] = await Promise.all([
        accept(guest, token),
        same.post(`/me/invitations/${id}/decline`),
      ]);
      const answers = [accepted, declined].map(({ status, body }) => body.error?.type ?? status);
      const isMember = user in (await roles(team));
      return {
        answers,
        isMember,
        stored: await storedStatus(app.database, id),
        last: (await actions(team)).slice(2),
      };
    });
    for (const result of results) {
      expect([
        { answers: [200, 'invitation_used'], isMember: true, stored: 'accepted', last: ['member.joined'] },
        {
          ...{ answers: ['invitation_cancelled', 204], isMember: false, stored: 'cancelled' },
          last: ['invitation.declined'],
        },
      ]).toContainEqual(result);
    }
  });

  it('sent again', async () => {
    const results = await inParallel(ROUNDS, () =>
      race((admin, { base }, id) => admin.post(`${base}/invitations/${id}/resend`)),
    );
    for (const { team, guest, token, other, answers, stored, isMember } of results) {
      const made = { answers, stored, isMember, last: (await actions(team)).slice(2) };
      expect([
        {
          answers: [200, 'invitation_not_pending'],
          stored: 'accepted',
          isMember: true,
          last: ['member.joined'],
        },
        {
          ...{ answers: ['invitation_not_found', 200], stored: 'pending', isMember: false },
          last: ['invitation.resent'],
        },
      ]).toContainEqual(made);
      if (!isMember) await accept(guest, token).expect(404);
      await accept(guest, isMember ? token : other.body.token).expect(200);
    }
  });

  it('its organization is deleted', async () => {
    const results = await inParallel(ROUNDS, () => race((admin, { base }) => admin.delete(base)));
    for (const { team, guest, token, answers, stored, isMember } of results) {
      expect([
        { answers: [200, 200], stored: 'accepted', isMember: false },
        { answers: ['invitation_cancelled', 200], stored: 'cancelled', isMember: false },
      ]).toContainEqual({ answers, stored, isMember });
      expect(await actions(team)).toEqual([]);
      await guest.get(team.base).expect(404);
      await accept(guest, token).expect(stored === 'accepted' ? 409 : 410);
      const { body } = await guest.post('/me/invitations/preview').send({ token }).expect(200);
      expect(body.status).toBe(stored);
    }
  });
});

it('an invitation that is cancelled and resent in parallel has one outcome', async () => {
  const results = await inParallel(12, async () => {
    const team = await teamOwner(app);
    const { id } = await invite(team, emailOf(newUser()));
    const url = `${team.base}/invitations/${id}`;
    const admin = await replica.as(team.user);
    const answers = await Promise.all([team.admin.delete(url), admin.post(`${url}/resend`)]);
    return { answers: statuses(answers), stored: await storedStatus(app.database, id) };
  });
  for (const { answers, stored } of results) {
    expect(stored).toBe('cancelled');
    expect([
      [204, 200],
      [204, 409],
    ]).toContainEqual(answers);
  }
});

describe('a slug', () => {
  it('is given to one of 20 parallel creations', async () => {
    const agents = await inParallel(10, (i) => (i % 2 ? app : replica).as(newUser()));
    for (let round = 0; round < 5; round++) {
      const answers = await inParallel(20, (i) =>
        agents[i % 10]!.post('/me/organizations').send({ name: 'Race', slug: `race-${round}` }),
      );
      expect(tally(answers.map(({ status, body }) => body.error?.type ?? status))).toEqual({
        201: 1,
        slug_taken: 19,
      });
    }
    const made = await app.database.query(`SELECT 1 FROM organizations WHERE slug LIKE 'race-%'`);
    expect(made).toHaveLength(5);
  });

  it('is given to one of 20 when the admin who released it creates it again', async () => {
    const [ann, twin, eve] = [await app.as('ann'), await replica.as('ann'), await app.as('eve')];
    const create = (agent: Agent) => agent.post('/me/organizations').send({ name: 'x', slug: 'again' });
    let { body: current } = await create(ann).expect(201);
    for (let round = 0; round < 5; round++) {
      const [gone, ...early] = await Promise.all([
        ann.delete(`/me/organizations/${current.id}`),
        ...[1, 2, 3, 4].map(() => create(eve)),
      ]);
      expect([gone.status, ...statuses(early)]).toEqual([200, 409, 409, 409, 409]);
      const answers = await inParallel(20, (i) => create([ann, twin, eve][i % 3]!));
      expect(tally(statuses(answers))).toEqual({ 201: 1, 409: 19 });
      current = answers.find(({ status }) => status === 201)!.body;
    }
  });

  it('is released by one of two admins who delete the organization in parallel', async () => {
    for (let round = 0; round < 8; round++) {
      const team = await teamOwner(app);
      const user = newUser();
      await join(app, team, user, 'admin');
      const agents = [team.admin, await replica.as(user)];
      const { slug } = (await team.admin.get(team.base)).body;
      const answers = await Promise.all(agents.map((agent) => agent.delete(team.base)));
      expect(tally(statuses(answers))).toEqual({ 200: 1, 404: 1 });
      const winner = agents[statuses(answers).indexOf(200)]!;
      const loser = agents[statuses(answers).indexOf(404)]!;
      await loser.post('/me/organizations').send({ name: 'x', slug }).expect(409);
      await winner.post('/me/organizations').send({ name: 'x', slug }).expect(201);
    }
  });
});

describe('the deletion of an organization', () => {
  const TABLES = ['projects', 'documents', 'upstreams', 'memberships', 'invitations', 'audit_events'];

  it('leaves nothing of concurrent writes behind', async () => {
    for (let round = 0; round < 8; round++) {
      const team = await teamOwner(app);
      const user = newUser();
      const member = await join(app, team, user, 'admin');
      const { body: project } = await team.admin.post(`${team.base}/projects`).send({ name: 'p' });
      const documents = `${team.base}/projects/${project.id}/documents`;
      const { body: upstream } = await team.admin.post(`${team.base}/upstreams`).send(UPSTREAM).expect(201);
      const made = await inParallel(4, (i) =>
        team.admin.post(documents).send({ title: 't', slug: `old-${i}`, content: 'c' }),
      );
      const [one, two, three, four] = made.map(({ body }) => `${documents}/${body.id}`);
      const other = await replica.as(user);
      const [gone, ...answers] = await Promise.all([
        team.admin.delete(team.base),
        ...[1, 2, 3].map((i) => other.post(`${team.base}/projects`).send({ name: `p${i}` })),
        ...[1, 2, 3, 4].map((i) => other.post(documents).send({ title: 't', slug: `s${i}`, content: 'c' })),
        member.put(one!).send({ content: 'new' }),
        member.put(two!).send({ title: 'new' }),
        member.delete(three!),
        other.delete(four!),
        other.delete(`${team.base}/projects/${project.id}`),
        other.post(`${team.base}/keys`),
        other.post(`${team.base}/upstreams`).send({ ...UPSTREAM, name: 'new' }),
        member.put(`${team.base}/upstreams/${upstream.id}`).send({ enabled: false }),
        other.post(`${team.base}/invite`).send({ email: `late-${round}@example.com`, role: 'member' }),
        other.put(team.base).send({ name: 'New' }),
        other.put(`${team.base}/members/me`).send({ role: 'member' }),
      ]);
      expect(gone.status).toBe(200);
      for (const status of statuses(answers)) expect([200, 201, 204, 403, 404]).toContain(status);
      for (const table of TABLES) {
        const text = `SELECT count(*)::int AS n FROM ${table} WHERE organization_id = $1`;
        expect([table, await app.database.query(text, [team.organizationId])]).toEqual([table, [{ n: 0 }]]);
      }
      const live = 'SELECT 1 FROM proxy_keys WHERE organization_id = $1 AND revoked_at IS NULL';
      expect(await app.database.query(live, [team.organizationId])).toEqual([]);
    }
    await app.database.query('UPDATE object_deletions SET due_at = now()');
    for (const one of [app, replica]) await one.app.get(DeletionQueue, { strict: false }).sweep();
    expect(await app.database.query('SELECT key FROM object_deletions')).toEqual([]);
    expect(await readdir(`${app.dataDir}/objects/documents`)).toEqual([]);
  });

  it.each([
    ['a key is revoked', (team: TestOwner, key: number) => team.admin.delete(`${team.base}/keys/${key}`)],
    ['its holder revokes a key', (team: TestOwner, key: number) => team.admin.delete(`/me/keys/${key}`)],
  ])('goes on while %s, and neither blocks the other', async (_what, revoke) => {
    const answers = await inParallel(15, async () => {
      const team = await teamOwner(app);
      const { body: key } = await team.admin.post(`${team.base}/keys`).expect(201);
      const admin = await replica.as(team.user);
      return Promise.all([revoke(team, key.id), admin.delete(team.base)]);
    });
    for (const [revoked, gone] of answers) {
      expect([204, 404]).toContain(revoked.status); // as a key of the organization it may be gone with it
      expect(gone.status).toBe(200);
    }
  });
});

it('a member who revokes a key while being removed blocks nobody', async () => {
  const answers = await inParallel(15, async () => {
    const team = await teamOwner(app);
    const user = newUser();
    const member = await join(app, team, user, 'member');
    const { body: key } = await member.post(`${team.base}/keys`).expect(201);
    const admin = await replica.as(team.user);
    return Promise.all([member.delete(`/me/keys/${key.id}`), admin.delete(`${team.base}/members/${user}`)]);
  });
  expect(tally(answers.flatMap((pair) => statuses(pair)))).toEqual({ 204: 15, 200: 15 });
});

describe('an organization that is locked for long', () => {
  it('delays no requests for others, and serves its own requests in the end', async () => {
    const [held, other] = [await teamOwner(app), await teamOwner(app)];
    const holder = await connect(app.database);
    await holder.query('BEGIN');
    await holder.query('SELECT 1 FROM organizations WHERE id = $1 FOR UPDATE', [held.organizationId]);
    const waiting = inParallel(40, (i) =>
      i % 2 === 0
        ? held.admin.post(`${held.base}/keys`)
        : held.admin.post(`${held.base}/projects`).send({ name: `${i}` }),
    );
    await lockedOut(app.database, 5);
    for (let i = 0; i < 10; i++)
      await other.admin
        .post(`${other.base}/projects`)
        .send({ name: `${i}` })
        .expect(201);
    await holder.query('COMMIT');
    await holder.end();
    expect(tally(statuses(await waiting))).toEqual({ 201: 40 });
  });
});

describe('an admin', () => {
  /** Ids of the objects in a team. */
  interface Ids extends Readonly<Record<'invitation' | 'key' | 'upstream' | 'project' | 'document', number>> {
    readonly userCode: string;
  }

  let holder: Client;

  beforeEach(async () => {
    holder = await connect(app.database);
  });
  afterEach(() => holder.end());

  /** Lets a request get past the guard and wait for the organization, and meanwhile changes who its sender is. */
  async function overtaken(change: string, send: (agent: Agent, team: TestOwner, ids: Ids) => Test) {
    const team = await teamOwner(app);
    const user = newUser();
    const agent = await join(app, team, user, 'admin');
    const ids = {
      invitation: (await invite(team, 'somebody@example.com')).id,
      key: (await team.admin.post(`${team.base}/keys`).expect(201)).body.id,
      upstream: (await team.admin.post(`${team.base}/upstreams`).send(UPSTREAM).expect(201)).body.id,
      ...(await createDocument(team)),
      userCode: (await beginLogin(app)).user_code,
    };
    const before = await actions(team);
    await holder.query('BEGIN');
    await holder.query('SELECT 1 FROM organizations WHERE id = $1 FOR UPDATE', [team.organizationId]);
    const answer = send(agent, team, ids).then(({ status, body }) => ({ status, error: body.error }));
    await lockedOut(app.database, 1);
    await holder.query(`${change} WHERE user_id = $1 AND organization_id = $2`, [user, team.organizationId]);
    await holder.query('COMMIT');
    const { status, error } = await answer;
    expect(await actions(team)).toEqual(before);
    return { status, error };
  }

  /** A project with one document. */
  async function createDocument({ admin, base }: TestOwner): Promise<{ project: number; document: number }> {
    const project = (await admin.post(`${base}/projects`).send({ name: 'p' }).expect(201)).body.id;
    const fields = { title: 't', slug: 's', content: 'c' };
    const { body } = await admin.post(`${base}/projects/${project}/documents`).send(fields).expect(201);
    return { project, document: body.id };
  }

  const documentOf = ({ base }: TestOwner, { project, document }: Ids) =>
    `${base}/projects/${project}/documents/${document}`;

  const routes: [string, (agent: Agent, team: TestOwner, ids: Ids) => Test][] = [
    ['rename the organization', (agent, { base }) => agent.put(base).send({ name: 'x' })],
    ['delete the organization', (agent, { base }) => agent.delete(base)],
    [
      'change roles',
      (agent, { base, user }) => agent.put(`${base}/members/${user}`).send({ role: 'member' }),
    ],
    ['remove members', (agent, { base, user }) => agent.delete(`${base}/members/${user}`)],
    [
      'invite members',
      (agent, { base }) => agent.post(`${base}/invite`).send({ email: 'a@example.com', role: 'admin' }),
    ],
    ['cancel invitations', (agent, { base }, ids) => agent.delete(`${base}/invitations/${ids.invitation}`)],
    [
      'resend invitations',
      (agent, { base }, ids) => agent.post(`${base}/invitations/${ids.invitation}/resend`),
    ],
    [
      'create upstreams',
      (agent, { base }) => agent.post(`${base}/upstreams`).send({ ...UPSTREAM, name: 'another' }),
    ],
    [
      'update upstreams',
      (agent, { base }, ids) => agent.put(`${base}/upstreams/${ids.upstream}`).send({ enabled: false }),
    ],
    ['delete upstreams', (agent, { base }, ids) => agent.delete(`${base}/upstreams/${ids.upstream}`)],
    ['test upstreams', (agent, { base }, ids) => agent.post(`${base}/upstreams/${ids.upstream}/test`)],
    ['create projects', (agent, { base }) => agent.post(`${base}/projects`).send({ name: 'new' })],
    [
      'update projects',
      (agent, { base }, ids) => agent.put(`${base}/projects/${ids.project}`).send({ name: 'new' }),
    ],
    ['delete projects', (agent, { base }, ids) => agent.delete(`${base}/projects/${ids.project}`)],
    [
      'create documents',
      (agent, { base }, ids) =>
        agent.post(`${base}/projects/${ids.project}/documents`).send({ title: 't', slug: 'new' }),
    ],
    ['update documents', (agent, team, ids) => agent.put(documentOf(team, ids)).send({ title: 'new' })],
    ['update documents', (agent, team, ids) => agent.put(documentOf(team, ids)).send({ content: 'new' })],
    ['delete documents', (agent, team, ids) => agent.delete(documentOf(team, ids))],
  ];

  it.each(routes)('demoted at that moment cannot %s', async (what, send) => {
    expect(await overtaken(`UPDATE memberships SET role = 'member'`, send)).toEqual({
      status: 403,
      error: { message: `only admins can ${what}` },
    });
  });

  const revokeKey: (typeof routes)[number][1] = (agent, { base }, ids) =>
    agent.delete(`${base}/keys/${ids.key}`);

  it('demoted at that moment cannot revoke the keys of others', async () => {
    expect(await overtaken(`UPDATE memberships SET role = 'member'`, revokeKey)).toEqual({
      status: 404,
      error: { message: 'not found' },
    });
  });

  const more: typeof routes = [
    ['revoke keys', revokeKey],
    ['mint keys', (agent, { base }) => agent.post(`${base}/keys`)],
    [
      'approve a device',
      (agent, { organizationId }, { userCode }) =>
        agent.post(`/me/device-requests/${userCode}/approve`).send({ organization_id: organizationId }),
    ],
  ];

  it.each([...routes, ...more])('removed at that moment cannot %s', async (_what, send) => {
    expect(await overtaken('DELETE FROM memberships', send)).toEqual({
      status: 404,
      error: { message: 'organization not found' },
    });
  });
});

it('the first requests of a session create its user and its membership once', async () => {
  for (let round = 0; round < 5; round++) {
    const team = await teamOwner(app);
    const user = newUser();
    const { token } = await invite(team, emailOf(user));
    const answers = await inParallel(10, async (i) => {
      const agent = await (i % 2 ? app : replica).as(user, { jti: String(i) }); // a session of its own
      return accept(agent, token);
    });
    expect(tally(statuses(answers))).toEqual({ 200: 10 });
    expect(await roles(team)).toEqual({ [team.user]: 'admin', [user]: 'member' });
  }
});
