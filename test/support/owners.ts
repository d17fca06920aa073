import type supertest from 'supertest';
import type { TestApp } from './app.js';
import { emailOf } from './sessions.js';

/** An owner at its address: what holds for projects and documents holds for both kinds alike. */
export interface TestOwner {
  /** `/me` or `/me/organizations/{id}` */
  readonly base: string;
  readonly organizationId: number;
  /** Who may do everything there, ... */
  readonly user: string;
  readonly admin: ReturnType<typeof supertest.agent>;
}

let count = 0;

/** A user of its own at its personal address. */
export async function personalOwner(app: TestApp): Promise<TestOwner> {
  const user = `person-${++count}`;
  const admin = await app.as(user);
  await admin.get('/me/projects').expect(200);
  const [row] = await app.database.query<{ id: number }>(
    'SELECT id::int FROM organizations WHERE personal_user_id = $1',
    [user],
  );
  return { base: '/me', organizationId: row!.id, user, admin };
}

/** A team of its own with an admin of its own. */
export async function teamOwner(app: TestApp): Promise<TestOwner> {
  const user = `founder-${++count}`;
  const admin = await app.as(user);
  const { body } = await admin
    .post('/me/organizations')
    .send({ name: 'Acme', slug: `acme-${count}` })
    .expect(201);
  return { base: `/me/organizations/${body.id}`, organizationId: body.id, user, admin };
}

/** Lets somebody join a team by invitation. */
export async function join(app: TestApp, team: TestOwner, user: string, role: 'admin' | 'member') {
  const agent = await app.as(user);
  const { body } = await team.admin
    .post(`${team.base}/invite`)
    .send({ email: emailOf(user), role })
    .expect(201);
  await agent.post('/me/invitations/accept').send({ token: body.token }).expect(200);
  return agent;
}

/** For `describe.each`. */
export const OWNER_KINDS = [
  ['a person', personalOwner],
  ['a team', teamOwner],
] as const;
