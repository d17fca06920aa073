import { readdir } from 'node:fs/promises';
import { join as joinPath } from 'node:path';
import type { Test } from 'supertest';
import { startApp } from '../support/app.js';
import type { Agent, TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import {
  fillDocuments,
  fillInvitations,
  fillMembers,
  fillProjects,
  fillTeams,
  fillUpstreams,
} from '../support/fill.js';
import { storedStatus } from '../support/invitations.js';
import { invite, join, OWNER_KINDS, teamOwner } from '../support/owners.js';
import type { TestOwner } from '../support/owners.js';
import { inParallel, tally } from '../support/parallel.js';
import { plansOf } from '../support/plans.js';
import { emailOf } from '../support/sessions.js';

const RACERS = 10;

let app: TestApp;
/** Half of what happens at once happens here. */
let replica: TestApp;
let count = 0;

beforeAll(async () => {
  app = await startApp();
  replica = await startApp({}, app);
});
afterAll(async () => {
  await replica.close();
  await app.close();
});

const newUser = () => `capped-${++count}`;
const outcome = ({ status, body }: { status: number; body: { error?: { type?: string } } }) =>
  body.error?.type ?? status;

/** The caller on both replicas. */
async function onBoth(user: string): Promise<[Agent, Agent]> {
  return [await app.as(user), await replica.as(user)];
}

/** Sends requests in parallel to both replicas and returns the outcomes. */
async function race(user: string, send: (agent: Agent, i: number) => Test) {
  const agents = await onBoth(user);
  return tally((await inParallel(RACERS, (i) => send(agents[i % 2]!, i))).map(outcome));
}

interface Kind {
  readonly type: string;
  readonly max: number;
  /** Type of the conflict of two objects with the same name or slug. */
  readonly taken: string;
  /** Name of the list. */
  readonly list: string;
  /** Address of the list, of a new owner that has `rows` objects. */
  make(owner: TestOwner, rows: number): Promise<string>;
  /** Body of an object with this number. */
  body(number: number): object;
}

const KINDS: Kind[] = [
  {
    ...{ type: 'too_many_projects', max: 1_000, taken: 'name_taken', list: 'projects' },
    make: async ({ base, organizationId }, rows) => {
      await fillProjects(app, organizationId, rows);
      return `${base}/projects`;
    },
    body: (number) => ({ name: `new ${number}` }),
  },
  {
    ...{ type: 'too_many_documents', max: 10_000, taken: 'slug_taken', list: 'documents' },
    make: async ({ base, admin }, rows) => {
      const { body } = await admin.post(`${base}/projects`).send({ name: 'Full' }).expect(201);
      await fillDocuments(app, body.id, rows);
      return `${base}/projects/${body.id}/documents`;
    },
    body: (number) => ({ title: 'New', slug: `new-${number}`, content: 'text' }),
  },
  {
    ...{ type: 'too_many_upstreams', max: 100, taken: 'name_taken', list: 'upstreams' },
    make: async ({ base, organizationId }, rows) => {
      await fillUpstreams(app, organizationId, rows);
      return `${base}/upstreams`;
    },
    body: (number) => ({
      name: `new ${number}`,
      base_url: 'https://1.1.1.1/v1',
      api_key: 'sk-of-the-upstream',
    }),
  },
];

describe.each(OWNER_KINDS)('%s', (_who, makeOwner) => {
  it.each(KINDS)('never exceeds the cap of $type, also with parallel requests', async (kind) => {
    const owner = await makeOwner(app);
    const url = await kind.make(owner, kind.max - 1);
    for (let round = 0; round < 3; round++) {
      const outcomes = await race(owner.user, (agent, i) => agent.post(url).send(kind.body(10 * round + i)));
      expect(outcomes).toEqual({ 201: 1, [kind.type]: RACERS - 1 });
      const { body } = await owner.admin.get(url).expect(200);
      const listed = body[kind.list] as { id: number }[];
      expect(listed).toHaveLength(kind.max);
      await owner.admin.delete(`${url}/${listed.at(-1)!.id}`).expect(204);
    }
  });

  it.each(KINDS)('reports $type after all other conflicts', async (kind) => {
    const owner = await makeOwner(app);
    const url = await kind.make(owner, kind.max - 1);
    await owner.admin.post(url).send(kind.body(1)).expect(201);
    expect(outcome(await owner.admin.post(url).send(kind.body(1)))).toBe(kind.taken);
    expect(outcome(await owner.admin.post(url).send(kind.body(2)))).toBe(kind.type);
  });
});

it('reports too long descriptions before too many projects', async () => {
  const team = await teamOwner(app);
  await fillProjects(app, team.organizationId, 1_000);
  await app.database.query(
    `UPDATE projects SET description = repeat('x', 9000000) WHERE organization_id = $1 AND name = 'filled 1'`,
    [team.organizationId],
  );
  const create = (body: object) => team.admin.post(`${team.base}/projects`).send(body);
  expect(outcome(await create({ name: 'new', description: 'x' }))).toBe('descriptions_too_long');
  expect(outcome(await create({ name: 'new' }))).toBe('too_many_projects');
});

it('counts caps separately for each owner', async () => {
  const [full, other] = [await teamOwner(app), await teamOwner(app)];
  await fillProjects(app, full.organizationId, 1_000);
  await fillUpstreams(app, full.organizationId, 100);
  await other.admin.post(`${other.base}/projects`).send({ name: 'new' }).expect(201);
  await other.admin.post(`${other.base}/upstreams`).send(KINDS[2]!.body(1)).expect(201);
});

it('removes the body of a document that exceeds the cap', async () => {
  const team = await teamOwner(app);
  const url = await KINDS[1]!.make(team, 10_000);
  const bodies = async () => (await readdir(joinPath(app.dataDir, 'objects/documents'))).length;
  const before = await bodies();
  await team.admin.post(url).send(KINDS[1]!.body(1)).expect(409);
  await eventually(async () => expect(await bodies()).toBeLessThanOrEqual(before));
});

describe('teams that a user founded', () => {
  const create = (agent: Agent, slug: string) => agent.post('/me/organizations').send({ name: 'New', slug });

  it('are limited to 100, also with parallel requests', async () => {
    const user = newUser();
    const [agent] = await onBoth(user);
    await agent.get('/me/organizations').expect(200);
    await fillTeams(app, user, 99);
    for (let round = 0; round < 3; round++) {
      const slug = (i: number) => `${user}-${round}-${i}`;
      const outcomes = await race(user, (on, i) => create(on, slug(i)));
      expect(outcomes).toEqual({ 201: 1, too_many_organizations: RACERS - 1 });
      const { organizations } = (await agent.get('/me/organizations').expect(200)).body;
      expect(organizations).toHaveLength(101); // with the personal one
      await agent.delete(`/me/organizations/${organizations.at(-1).id}`).expect(200);
    }
  });

  it('count as long as they exist, also without their founder; joined ones do not count', async () => {
    const user = newUser();
    const other = await teamOwner(app);
    const agent = await join(app, other, user, 'admin');
    const founded = (await create(agent, `${user}-first`).expect(201)).body.id as number;
    await fillTeams(app, user, 98);
    await create(agent, `${user}-last`).expect(201);
    const team = { ...other, base: `/me/organizations/${founded}`, organizationId: founded, admin: agent };
    const heir = await join(app, team, newUser(), 'admin');
    await agent.delete(`${team.base}/members/me`).expect(200);
    expect(outcome(await create(agent, `${user}-late`))).toBe('too_many_organizations');
    await heir.delete(team.base).expect(200);
    await create(agent, `${user}-late`).expect(201);
  });

  it('reach the cap only after the check of the slug, which stays free', async () => {
    const user = newUser();
    const [agent] = await onBoth(user);
    await agent.get('/me/organizations').expect(200);
    await fillTeams(app, user, 100);
    const taken = await teamOwner(app);
    const { slug } = (await taken.admin.get(taken.base).expect(200)).body;
    expect(outcome(await create(agent, slug))).toBe('slug_taken');
    expect(outcome(await create(agent, `${user}-new`))).toBe('too_many_organizations');
    await create(taken.admin, `${user}-new`).expect(201);
  });
});

describe('members of an organization', () => {
  const accept = (agent: Agent, token: string) => agent.post('/me/invitations/accept').send({ token });

  it('are limited to 1,000, also with parallel requests', async () => {
    const team = await teamOwner(app);
    await fillMembers(app, team.organizationId, 998); // with the founder, 999
    const users = Array.from({ length: RACERS }, newUser);
    const guests = await Promise.all(users.map((user, i) => (i % 2 ? app : replica).as(user)));
    const invitations = await Promise.all(users.map((user) => invite(team, emailOf(user))));
    const answers = await inParallel(RACERS, (i) => accept(guests[i]!, invitations[i]!.token));
    expect(tally(answers.map(outcome))).toEqual({ 200: 1, too_many_members: RACERS - 1 });
    expect((await team.admin.get(`${team.base}/members`).expect(200)).body.members).toHaveLength(1_000);
    const loser = answers.findIndex(({ status }) => status === 409);
    expect(await storedStatus(app.database, invitations[loser]!.id)).toBe('pending');
    const byId = `/me/invitations/${invitations[loser]!.id}/accept`;
    expect(outcome(await guests[loser]!.post(byId))).toBe('too_many_members');
    await team.admin.delete(`${team.base}/members/crowd-1`).expect(200);
    await guests[loser]!.post(byId).expect(200);
  });

  it('may accept another invitation at the cap', async () => {
    const team = await teamOwner(app);
    const user = newUser();
    await join(app, team, user, 'member');
    await fillMembers(app, team.organizationId, 998);
    const { token } = await invite(team, `${user}@elsewhere.example.com`, 'admin');
    const moved = await app.as(user, { email: `${user}@elsewhere.example.com` });
    const { body } = await accept(moved, token).expect(200);
    expect(body.member).toMatchObject({ user_id: user, role: 'admin' });
  });

  it('reach the cap only for users who could accept otherwise', async () => {
    const team = await teamOwner(app);
    const [user, other] = [newUser(), newUser()];
    const cancelled = await invite(team, emailOf(other));
    await team.admin.delete(`${team.base}/invitations/${cancelled.id}`).expect(204);
    const { token } = await invite(team, emailOf(user));
    await fillMembers(app, team.organizationId, 999);
    expect(outcome(await accept(await app.as(other), token))).toBe('email_mismatch');
    expect(outcome(await accept(await app.as(other), cancelled.token))).toBe('invitation_cancelled');
    expect(outcome(await accept(await app.as(user), token))).toBe('too_many_members');
  });
});

describe('pending invitations of an organization', () => {
  const send = (agent: Agent, { base }: TestOwner, email: string) =>
    agent.post(`${base}/invite`).send({ email, role: 'member' });

  it('are limited to 500, also with parallel requests', async () => {
    const team = await teamOwner(app);
    await fillInvitations(app, team.organizationId, 499);
    await fillInvitations(app, team.organizationId, 600, 'cancelled');
    for (let round = 0; round < 3; round++) {
      const outcomes = await race(team.user, (agent, i) => send(agent, team, `r${round}-${i}@example.com`));
      expect(outcomes).toEqual({ 201: 1, too_many_invitations: RACERS - 1 });
      const url = `${team.base}/invitations`;
      const { invitations } = (await team.admin.get(`${url}?status=pending`).expect(200)).body;
      expect(invitations).toHaveLength(500);
      await team.admin.delete(`${url}/${invitations.at(-1).id}`).expect(204);
    }
  });

  it('reach the cap only for an address that can be invited', async () => {
    const team = await teamOwner(app);
    await fillInvitations(app, team.organizationId, 500);
    const invited = async (email: string) => outcome(await send(team.admin, team, email));
    expect(await invited(emailOf(team.user))).toBe('already_member');
    expect(await invited('pending-7@example.com')).toBe('invitation_pending');
    expect(await invited('new@example.com')).toBe('too_many_invitations');
    await app.database.query(
      `UPDATE invitations SET expires_at = now() - interval '1 s'
       WHERE organization_id = $1 AND email = 'pending-7@example.com'`,
      [team.organizationId],
    );
    expect(await invited('new@example.com')).toBe(201);
  });

  it('are all listed, with the 1,000 newest others', async () => {
    const team = await teamOwner(app);
    const id = team.organizationId;
    await fillInvitations(app, id, 500);
    for (const status of ['accepted', 'cancelled', 'expired']) await fillInvitations(app, id, 600, status);
    await app.database.query(
      `UPDATE invitations SET expires_at = now() - interval '1 s'
       WHERE organization_id = $1 AND email = 'pending-7@example.com'`,
      [id],
    );
    const list = async (query: string) => {
      const { body } = await team.admin.get(`${team.base}/invitations${query}`).expect(200);
      return body.invitations as { id: number; email: string; status: string }[];
    };
    const all = await list('');
    expect(tally(all.map(({ status }) => status))).toEqual({ pending: 499, expired: 600, cancelled: 400 });
    expect(all.map(({ id }) => id)).toEqual(all.map(({ id }) => id).toSorted((a, b) => a - b));
    expect(all.find(({ status }) => status === 'cancelled')!.email).toBe('cancelled-201@example.com');
    expect(await list('?status=pending')).toHaveLength(499);
    expect(await list('?status=accepted')).toHaveLength(600);
    const expired = await list('?status=expired');
    expect(expired).toHaveLength(601);
    expect(expired[0]).toMatchObject({ email: 'pending-7@example.com', status: 'expired' });
    await fillInvitations(app, id, 700, 'accepted');
    expect(await list('?status=accepted')).toHaveLength(1_000);
  });
});

describe('a check of a cap', () => {
  /** Plans that read a table, without those of single rows. */
  async function counts(table: string, work: () => Promise<unknown>): Promise<string[]> {
    await app.database.query(`ANALYZE ${table}`);
    const plans = await plansOf(app, work);
    return plans.filter((plan) => plan.startsWith('Limit') && plan.includes(` on ${table}`));
  }

  it('reads an index', async () => {
    const [team, crowd] = [await teamOwner(app), await teamOwner(app)];
    for (const { organizationId } of [team, crowd]) await fillProjects(app, organizationId, 900);
    await fillUpstreams(app, crowd.organizationId, 3_000);
    await fillInvitations(app, crowd.organizationId, 3_000, 'accepted');
    await fillMembers(app, crowd.organizationId, 3_000);
    await fillTeams(app, crowd.user, 3_000);
    const documents = await KINDS[1]!.make(team, 5_000);
    await KINDS[1]!.make(crowd, 5_000);
    const slug = newUser();
    const found = () => team.admin.post('/me/organizations').send({ name: 'New', slug }).expect(201);
    const add = (url: string, body: object) => () => team.admin.post(url).send(body).expect(201);
    for (const [table, work] of [
      ['projects', add(`${team.base}/projects`, { name: 'new' })],
      ['documents', add(documents, { title: 'New', slug: 'new' })],
      ['upstreams', add(`${team.base}/upstreams`, KINDS[2]!.body(1))],
      ['organizations', found],
      ['memberships', () => join(app, team, newUser(), 'member')],
      ['invitations', () => invite(team, emailOf(newUser()))],
    ] as const) {
      const plans = await counts(table, work);
      expect([table, plans.length > 0]).toEqual([table, true]);
      expect(plans.join()).toMatch(/Index (Only )?Scan|Bitmap Index Scan/);
      expect(plans.join()).not.toContain('Seq Scan');
    }
  });
});
