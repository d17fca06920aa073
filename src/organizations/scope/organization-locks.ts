import type { EntityManager } from 'typeorm';
import { LOCKS_OF_MEMBERS } from '../../database/transactions/advisory-locks.js';
import { assertRole } from '../model/membership-rules.js';
import { Membership } from '../model/membership.entity.js';
import type { Role } from '../model/membership.entity.js';
import { Organization } from '../model/organization.entity.js';
import { OrganizationNotFound } from '../model/organizations.errors.js';
import type { OwnerScope } from './owner-scope.js';

/**
 * Locks the organization's row until the transaction ends. Needed for a change of the organization, its invitations or
 * its number of members. Transactions with {@link lockOrganizationShared} are not delayed.
 * @throws OrganizationNotFound
 */
export function lockOrganization(id: number, transaction: EntityManager): Promise<Organization> {
  return lockRow(id, 'for_no_key_update', transaction);
}

/**
 * {@link lockOrganization}, and a check that the caller is an admin at this moment. The role may have changed since the
 * request arrived.
 * @param action as in {@link AdminOnly}
 * @throws OrganizationNotFound @throws AdminsOnly
 */
export async function lockOrganizationAsAdmin(
  scope: OwnerScope,
  action: string,
  transaction: EntityManager,
): Promise<Organization> {
  const organization = await lockOrganization(scope.organizationId, transaction);
  await assertCurrentRole(scope, action, transaction);
  return organization;
}

/**
 * Locks the organization against all other locks of this file, for a removal, a demotion or a deletion. Transactions
 * that take a lock later wait, so a member cannot delay its removal by further writes.
 * @param action as in {@link AdminOnly}; undefined if every member may
 * @throws OrganizationNotFound @throws AdminsOnly
 */
export async function lockOrganizationExclusively(
  scope: OwnerScope,
  action: string | undefined,
  transaction: EntityManager,
): Promise<Organization> {
  const { organizationId } = scope;
  const values = [LOCKS_OF_MEMBERS, organizationId];
  await transaction.query('SELECT pg_advisory_xact_lock($1, hashint8($2))', values);
  const organization = await lockRow(organizationId, 'pessimistic_write', transaction);
  await assertCurrentRole(scope, action, transaction);
  return organization;
}

/**
 * Returns the user's role and keeps it unchanged until the transaction ends. The lock is shared: other members can
 * write at the same time.
 * @throws OrganizationNotFound
 */
export async function lockRole(
  organizationId: number,
  userId: string,
  transaction: EntityManager,
): Promise<Role> {
  await lockOrganizationShared(organizationId, transaction);
  const role = await findRole(organizationId, userId, transaction);
  assertRole(role);
  return role;
}

/**
 * {@link lockRole} for a write that only admins may do. Belongs at the start of the transaction: a caller who lost the
 * role gets no other error.
 * @param action as in {@link AdminOnly}
 * @throws OrganizationNotFound @throws AdminsOnly
 */
export async function lockAdminRole(
  { organizationId, user }: OwnerScope,
  action: string,
  transaction: EntityManager,
): Promise<void> {
  assertRole(await lockRole(organizationId, user.id, transaction), action);
}

/**
 * Delays {@link lockOrganizationExclusively} of other transactions until this one ends. The advisory lock has a fair
 * queue. Row locks have none: a stream of shared row locks can starve an exclusive one.
 */
export async function lockOrganizationShared(id: number, transaction: EntityManager): Promise<void> {
  await transaction.query(`
    SELECT pg_advisory_xact_lock_shared(${LOCKS_OF_MEMBERS}, hashint8(${id}));
    SELECT FROM organizations WHERE id = ${id} FOR KEY SHARE`);
}

async function lockRow(
  id: number,
  mode: 'pessimistic_write' | 'for_no_key_update',
  transaction: EntityManager,
): Promise<Organization> {
  const organization = await transaction.findOne(Organization, { where: { id }, lock: { mode } });
  if (!organization) throw new OrganizationNotFound();
  return organization;
}

/** Runs in a statement after the lock, whose snapshot includes every change that the lock waited for. */
async function assertCurrentRole(
  { organizationId, user }: OwnerScope,
  action: string | undefined,
  transaction: EntityManager,
): Promise<void> {
  assertRole(await findRole(organizationId, user.id, transaction), action);
}

async function findRole(
  organizationId: number,
  userId: string,
  transaction: EntityManager,
): Promise<Role | undefined> {
  return (await transaction.findOneBy(Membership, { organizationId, userId }))?.role;
}
