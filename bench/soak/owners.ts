import { newSession } from '../support/session.js';
import type { Client } from './client.js';
import { UNRELIABLE } from './provider.js';

/** An owner and the session of its admin. */
export interface Owner {
  readonly label: string;
  readonly user: string;
  readonly session: string;
  readonly organizationId: number;
  /** `/me/organizations/{id}` */
  readonly base: string;
  readonly isTeam: boolean;
}

const PERSONS = 8;
const TEAMS = 4;

/** Creates the owners. Each has a pool of two upstreams, the first of which is unreliable. Upstream keys name the owner. */
export async function createOwners(client: Client, providerUrl: string): Promise<Owner[]> {
  const owners: Owner[] = [];
  for (let i = 1; i <= PERSONS; i++) owners.push(await createPerson(client, `person-${i}`));
  for (let i = 1; i <= TEAMS; i++) owners.push(await createTeam(client, `team-${i}`));
  for (const owner of owners) await fillPool(client, owner, providerUrl);
  return owners;
}

async function createPerson(client: Client, user: string): Promise<Owner> {
  const session = await newSession(user);
  const { body } = await client.insist({
    kind: 'set up',
    method: 'GET',
    path: '/me/organizations',
    bearer: session,
    expect: [200],
  });
  const id = body.organizations[0].id as number;
  return { label: user, user, session, organizationId: id, base: `/me/organizations/${id}`, isTeam: false };
}

async function createTeam(client: Client, label: string): Promise<Owner> {
  const user = `founder-of-${label}`;
  const session = await newSession(user);
  const { body } = await client.insist({
    kind: 'set up',
    method: 'POST',
    path: '/me/organizations',
    bearer: session,
    expect: [201],
    body: { name: label, slug: label },
  });
  const id = body.id as number;
  return { label, user, session, organizationId: id, base: `/me/organizations/${id}`, isTeam: true };
}

async function fillPool(client: Client, { label, base, session }: Owner, base_url: string): Promise<void> {
  for (const [priority, api_key] of [`owner-${label}${UNRELIABLE}`, `owner-${label}`].entries()) {
    await client.insist({
      kind: 'set up',
      method: 'POST',
      path: `${base}/upstreams`,
      bearer: session,
      expect: [201],
      body: { name: `upstream ${priority}`, base_url, api_key, priority },
    });
  }
}
