import { DeletionQueue } from '../../src/storage/deletion-queue.js';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { join, teamOwner } from '../support/owners.js';
import type { TestOwner } from '../support/owners.js';
import { inParallel, tally } from '../support/parallel.js';

type Agent = TestOwner['admin'];

let app: TestApp;
let count = 0;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const roles = async (team: TestOwner) =>
  (
    await app.database.query<{ role: string }>('SELECT role FROM memberships WHERE organization_id = $1', [
      team.organizationId,
    ])
  ).map(({ role }) => role);

/** What an admin can do to itself or to the other one that leaves one admin fewer. */
const MOVES = {
  'demotes the other': (agent: Agent, url: string, other: string) =>
    agent.put(`${url}/${other}`).send({ role: 'member' }),
  'removes the other': (agent: Agent, url: string, other: string) => agent.delete(`${url}/${other}`),
  'demotes itself': (agent: Agent, url: string) => agent.put(`${url}/me`).send({ role: 'member' }),
  leaves: (agent: Agent, url: string) => agent.delete(`${url}/me`),
};
const pairs = Object.keys(MOVES).flatMap((one, i) =>
  Object.keys(MOVES)
    .slice(i)
    .map((other) => [one, other] as const),
);

describe('an admin always remains when of two admins', () => {
  it.each(pairs)('one %s and the other one %s', async (first, second) => {
    for (let round = 0; round < 6; round++) {
      const team = await teamOwner(app);
      const user = `second-${++count}`;
      const other = await join(app, team, user, 'admin');
      const url = `${team.base}/members`;
      const answers = await Promise.all([
        MOVES[first as keyof typeof MOVES](team.admin, url, user),
        MOVES[second as keyof typeof MOVES](other, url, team.user),
      ]);
      expect(await roles(team)).toContain('admin');
      for (const { status } of answers) expect([200, 403, 404, 409]).toContain(status);
      expect(answers.some(({ status }) => status === 200)).toBe(true);
    }
  });
});

it('20 acceptances of one token make one membership, and all are told the same', async () => {
  for (let round = 0; round < 6; round++) {
    const team = await teamOwner(app);
    const user = `joiner-${++count}`;
    const agent = await app.as(user);
    const { body } = await team.admin
      .post(`${team.base}/invite`)
      .send({ email: `${user}@example.com`, role: 'member' });
    const answers = await inParallel(20, () =>
      agent.post('/me/invitations/accept').send({ token: body.token }),
    );
    expect(tally(answers.map(({ status }) => status))).toEqual({ 200: 20 });
    expect(new Set(answers.map(({ body: answer }) => JSON.stringify(answer.member))).size).toBe(1);
    expect(await roles(team)).toHaveLength(2);
    const joined = await app.database.query(
      `SELECT 1 FROM audit_events WHERE organization_id = $1 AND action = 'member.joined'`,
      [team.organizationId],
    );
    expect(joined).toHaveLength(1);
  }
});

describe('an acceptance has one outcome, the same everywhere, against', () => {
  const rivals = {
    cancelling: (team: TestOwner, id: number) => team.admin.delete(`${team.base}/invitations/${id}`),
    'sending again': (team: TestOwner, id: number) =>
      team.admin.post(`${team.base}/invitations/${id}/resend`),
    'the deletion of the organization': (team: TestOwner) => team.admin.delete(team.base),
  };

  it.each(Object.entries(rivals))('%s', async (_name, rival) => {
    for (let round = 0; round < 12; round++) {
      const team = await teamOwner(app);
      const user = `racer-${++count}`;
      const agent = await app.as(user);
      await agent.get('/me/projects').expect(200);
      const { body } = await team.admin
        .post(`${team.base}/invite`)
        .send({ email: `${user}@example.com`, role: 'member' });
      const [accepted, other] = await Promise.all([
        agent.post('/me/invitations/accept').send({ token: body.token }),
        rival(team, body.id),
      ]);
      expect([200, 204, 409]).toContain(other.status);
      const [row] = await app.database.query<{ status: string }>(
        'SELECT status FROM invitations WHERE id = $1',
        [body.id],
      );
      const isMember = (await roles(team)).length === 2;
      if (accepted.status === 200) {
        expect(row!.status).toBe('accepted');
      } else {
        expect([404, 410]).toContain(accepted.status);
        expect(['cancelled', 'pending']).toContain(row!.status);
        expect(isMember).toBe(false);
      }
      const thereStill = (await team.admin.get(team.base)).status === 200;
      expect(isMember).toBe(thereStill && accepted.status === 200);
    }
  });
});

it('of 20 creations of one slug one wins', async () => {
  const agents = await inParallel(4, (i) => app.as(`founder-of-many-${i}`));
  for (let round = 0; round < 5; round++) {
    const answers = await inParallel(20, (i) =>
      agents[i % 4]!.post('/me/organizations').send({ name: 'Race', slug: `race-${round}` }),
    );
    expect(tally(answers.map(({ status }) => status))).toEqual({ 201: 1, 409: 19 });
  }
});

it('nothing remains of what is created while the organization is deleted', async () => {
  for (let round = 0; round < 6; round++) {
    const team = await teamOwner(app);
    const { body: project } = await team.admin.post(`${team.base}/projects`).send({ name: 'p' });
    const documents = `${team.base}/projects/${project.id}/documents`;
    const answers = await Promise.all([
      team.admin.delete(team.base),
      ...Array.from({ length: 4 }, (_, i) =>
        team.admin.post(`${team.base}/projects`).send({ name: `n${i}` }),
      ),
      ...Array.from({ length: 4 }, (_, i) =>
        team.admin.post(documents).send({ title: 't', slug: `s${i}`, content: 'c' }),
      ),
      ...Array.from({ length: 2 }, () => team.admin.post(`${team.base}/keys`)),
    ]);
    expect(answers[0].status).toBe(200);
    for (const { status } of answers.slice(1)) expect([201, 404]).toContain(status);
    for (const table of ['projects', 'documents', 'memberships']) {
      expect(
        await app.database.query(`SELECT 1 FROM ${table} WHERE organization_id = $1`, [team.organizationId]),
      ).toEqual([]);
    }
    const live = await app.database.query(
      'SELECT 1 FROM proxy_keys WHERE organization_id = $1 AND revoked_at IS NULL',
      [team.organizationId],
    );
    expect(live).toEqual([]);
  }
  await app.database.query(`UPDATE object_deletions SET due_at = now()`);
  await app.app.get(DeletionQueue, { strict: false }).sweep();
  expect(await app.database.query('SELECT key FROM object_deletions')).toEqual([]);
  const { readdir } = await import('node:fs/promises');
  const bodies = await readdir(`${app.dataDir}/objects/documents`).catch(() => []);
  const rows = await app.database.query<{ id: number }>('SELECT id FROM documents ORDER BY id');
  expect(bodies.sort()).toEqual(rows.map(({ id }) => String(id)).sort());
});
