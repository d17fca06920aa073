import type supertest from 'supertest';
import type { TestApp } from './app.js';

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
  await admin.get('/me/projects').expect(200);
  const [row] = await app.database.query<{ id: number }>(
    `WITH team AS (
       INSERT INTO organizations (kind, name, slug) VALUES ('team', 'Acme', $1) RETURNING id
     ) INSERT INTO memberships (organization_id, user_id, role) SELECT id, $2, 'admin' FROM team
     RETURNING organization_id::int AS id`,
    [`acme-${count}`, user],
  );
  return { base: `/me/organizations/${row!.id}`, organizationId: row!.id, user, admin };
}

/** Adds somebody to a team. */
export async function join(app: TestApp, team: TestOwner, user: string, role: 'admin' | 'member') {
  const agent = await app.as(user);
  await agent.get('/me/projects').expect(200);
  await app.database.query('INSERT INTO memberships (organization_id, user_id, role) VALUES ($1, $2, $3)', [
    team.organizationId,
    user,
    role,
  ]);
  return agent;
}

/** For `describe.each`. */
export const OWNER_KINDS = [
  ['a person', personalOwner],
  ['a team', teamOwner],
] as const;
