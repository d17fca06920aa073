import type { Agent, TestApp } from './app.js';
import { emailOf } from './sessions.js';

type Role = 'admin' | 'member';

/** Owner with its address. Tests of owned objects run for both kinds of owners. */
export interface TestOwner {
  /** `/me` or `/me/organizations/{id}` */
  readonly base: string;
  readonly organizationId: number;
  /** User who is an admin of the owner. */
  readonly user: string;
  readonly admin: Agent;
}

let count = 0;

/** Creates a user with a personal organization. */
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

/** Creates a team with a new user as its admin. */
export async function teamOwner(app: TestApp): Promise<TestOwner> {
  const number = ++count;
  const user = `founder-${number}`;
  const admin = await app.as(user);
  const { body } = await admin
    .post('/me/organizations')
    .send({ name: 'Acme', slug: `acme-${number}` })
    .expect(201);
  return { base: `/me/organizations/${body.id}`, organizationId: body.id, user, admin };
}

/** Adds a user to a team. */
export async function join(app: TestApp, team: TestOwner, user: string, role: Role): Promise<Agent> {
  const agent = await app.as(user);
  const { token } = await invite(team, emailOf(user), role);
  await agent.post('/me/invitations/accept').send({ token }).expect(200);
  return agent;
}

interface NewInvitation {
  readonly id: number;
  readonly email: string;
  readonly email_delivery?: string;
  readonly expires_at: string;
  readonly token: string;
  readonly join_url: string;
}

/** Invites an address and returns the response with its token. */
export async function invite(team: TestOwner, email: string, role: Role = 'member'): Promise<NewInvitation> {
  const { body } = await team.admin.post(`${team.base}/invite`).send({ email, role }).expect(201);
  return body as NewInvitation;
}

/** Cases of `describe.each`. */
export const OWNER_KINDS = [
  ['a person', personalOwner],
  ['a team', teamOwner],
] as const;
