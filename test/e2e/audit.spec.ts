import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { join, personalOwner, teamOwner } from '../support/owners.js';
import type { TestOwner } from '../support/owners.js';

let app: TestApp;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const trail = async (team: TestOwner, query = '') =>
  (await team.admin.get(`${team.base}/audit${query}`).expect(200)).body;
const actions = (events: { action: string }[]) => events.map(({ action }) => action);

it('has who did what to whom, newest first', async () => {
  const team = await teamOwner(app);
  const bob = await join(app, team, 'bob', 'member');
  await team.admin.put(team.base).send({ name: 'New name' }).expect(200);
  await team.admin.put(`${team.base}/members/bob`).send({ role: 'admin' }).expect(200);
  const { body: invitation } = await bob
    .post(`${team.base}/invite`)
    .send({ email: 'eve@example.com', role: 'member' });
  await bob.post(`${team.base}/invitations/${invitation.id}/resend`).expect(200);
  await bob.delete(`${team.base}/invitations/${invitation.id}`).expect(204);
  await bob.delete(`${team.base}/members/me`).expect(200);
  const { events, next_cursor } = await trail(team);
  expect(next_cursor).toBeNull();
  expect(actions(events)).toEqual([
    'member.left',
    'invitation.cancelled',
    'invitation.resent',
    'invitation.created',
    'member.role_changed',
    'organization.renamed',
    'member.joined',
    'invitation.created',
    'organization.created',
  ]);
  const ada = { user_id: team.user, email: `${team.user}@example.com` };
  const bobby = { user_id: 'bob', email: 'bob@example.com' };
  expect(events[4]).toEqual({
    id: expect.any(Number),
    at: expect.stringMatching(/^\d{4}-.*Z$/),
    actor: ada,
    action: 'member.role_changed',
    target: { type: 'member', ...bobby },
    details: { from: 'member', to: 'admin' },
  });
  expect(events[3]).toMatchObject({
    actor: bobby,
    target: { type: 'invitation', id: invitation.id, email: 'eve@example.com' },
  });
  expect(events[5]).toMatchObject({ actor: ada, details: { from: 'Acme', to: 'New name' } });
  expect(events[6]).toMatchObject({ actor: bobby, target: bobby });
  expect(JSON.stringify(events)).not.toContain(invitation.token);
});

it('has removals with what they took along', async () => {
  const team = await teamOwner(app);
  const cat = await join(app, team, 'cat', 'member');
  await cat.post(`${team.base}/keys`).expect(201);
  await team.admin.delete(`${team.base}/members/cat`).expect(200);
  const { events } = await trail(team, '?limit=1');
  expect(events[0]).toMatchObject({
    action: 'member.removed',
    target: { user_id: 'cat' },
    details: { revoked_keys: 1 },
  });
});

it('has nothing of what was refused or changed nothing', async () => {
  const team = await teamOwner(app);
  const member = await join(app, team, 'dan', 'member');
  const before = await trail(team);
  await member.put(team.base).send({ name: 'x' }).expect(403);
  await team.admin.put(team.base).send({ slug: 'other' }).expect(400);
  await team.admin.delete(`${team.base}/members/me`).expect(409);
  await team.admin.put(`${team.base}/members/dan`).send({ role: 'member' }).expect(200);
  await team.admin.put(team.base).send({ name: 'Acme' }).expect(200);
  await team.admin.post(`${team.base}/invite`).send({ email: 'dan@example.com', role: 'member' }).expect(409);
  expect(await trail(team)).toEqual(before);
});

it('is paged', async () => {
  const team = await teamOwner(app);
  for (let i = 0; i < 6; i++)
    await team.admin
      .put(team.base)
      .send({ name: `n${i}` })
      .expect(200);
  const all = (await trail(team)).events;
  expect(all).toHaveLength(7);
  const collected: unknown[] = [];
  let cursor: string | null = '';
  for (let pages = 0; cursor !== null; pages++) {
    const page: { events: unknown[]; next_cursor: string | null } = await trail(
      team,
      `?limit=3${cursor && `&cursor=${cursor}`}`,
    );
    expect(page.events.length).toBe(pages < 2 ? 3 : 1);
    collected.push(...page.events);
    cursor = page.next_cursor;
  }
  expect(collected).toEqual(all);
});

it.each([
  'limit=0',
  'limit=201',
  'limit=x',
  'limit=1.5',
  'limit=',
  'limit=1&limit=2',
  'cursor=x',
  'cursor=',
  'cursor=LTE',
])('refuses %s', async (query) => {
  const team = await teamOwner(app);
  const { body } = await team.admin.get(`${team.base}/audit?${query}`).expect(400);
  expect(body.error.type).toBeUndefined();
});

it('is for admins', async () => {
  const team = await teamOwner(app);
  const member = await join(app, team, 'eli', 'member');
  await member
    .get(`${team.base}/audit?limit=x`)
    .expect(403, { error: { message: 'only admins can read the audit trail' } });
  await (await app.as('stranger')).get(`${team.base}/audit`).expect(404);
  const person = await personalOwner(app);
  await person.admin
    .get(`/me/organizations/${person.organizationId}/audit`)
    .expect(200, { events: [], next_cursor: null });
});
