import type { EntityManager } from 'typeorm';
import { Membership } from './membership.entity.js';
import type { Role } from './membership.entity.js';
import { Organization } from './organization.entity.js';
import { AdminsOnly, OrganizationNotFound } from './organizations.errors.js';
import type { OwnerScope } from './owner-scope.js';

/**
 * Locks the organization's row until the transaction ends. Every change of membership does so first: what
 * is decided from then on (the last admin, say) stays true until it is done.
 * @throws OrganizationNotFound
 */
export async function lockOrganization(id: number, transaction: EntityManager): Promise<Organization> {
  const organization = await transaction.findOne(Organization, {
    where: { id },
    lock: { mode: 'pessimistic_write' },
  });
  if (!organization) throw new OrganizationNotFound();
  return organization;
}

/**
 * {@link lockOrganization}, and another look at the caller's role, which may have changed since the request
 * came in.
 * @param what as in {@link AdminOnly}; undefined when any member may
 * @throws OrganizationNotFound @throws AdminsOnly
 */
export async function lockAs(
  scope: OwnerScope,
  what: string | undefined,
  transaction: EntityManager,
): Promise<Organization> {
  const organization = await lockOrganization(scope.organizationId, transaction);
  const role = await roleOf(scope.organizationId, scope.user.id, transaction);
  if (!role) throw new OrganizationNotFound();
  if (what !== undefined && role !== 'admin') throw new AdminsOnly(what);
  return organization;
}

/**
 * Makes sure that the user is a member and stays what it is until the transaction ends, whoever wants to remove it
 * or delete the organization; does not keep other members from anything.
 * @throws OrganizationNotFound
 */
export async function holdMembership(
  organizationId: number,
  userId: string,
  transaction: EntityManager,
): Promise<Role> {
  await holdOrganization(organizationId, transaction);
  const role = await roleOf(organizationId, userId, transaction);
  if (!role) throw new OrganizationNotFound();
  return role;
}

/** {@link holdMembership} for what only admins may. @throws OrganizationNotFound @throws AdminsOnly */
export async function holdAsAdmin(
  { organizationId, user }: OwnerScope,
  what: string,
  transaction: EntityManager,
): Promise<void> {
  if ((await holdMembership(organizationId, user.id, transaction)) !== 'admin') throw new AdminsOnly(what);
}

/** Keeps the organization, if it is there, from being deleted or its members from changing until the transaction ends. */
export async function holdOrganization(id: number, transaction: EntityManager): Promise<void> {
  await transaction.findOne(Organization, { where: { id }, lock: { mode: 'for_key_share' } });
}

async function roleOf(
  organizationId: number,
  userId: string,
  transaction: EntityManager,
): Promise<Role | undefined> {
  return (await transaction.findOneBy(Membership, { organizationId, userId }))?.role;
}
