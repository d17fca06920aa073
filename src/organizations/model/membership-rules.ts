import type { Organization } from './organization.entity.js';
import type { Role } from './membership.entity.js';
import { AdminsOnly, LastAdmin, OrganizationNotFound, PersonalOrganization } from './organizations.errors.js';

/**
 * Checks the role of a user. A non-member gets the error of an organization that does not exist.
 * @param role undefined for a non-member
 * @param action completes "only admins can ..."; undefined if every member may
 * @throws OrganizationNotFound @throws AdminsOnly
 */
export function assertRole(role: Role | undefined, action?: string): asserts role is Role {
  if (!role) throw new OrganizationNotFound();
  if (action !== undefined && role !== 'admin') throw new AdminsOnly(action);
}

/** Whether an invitation changes the role: an invitation never demotes a member. */
export function isPromotion(current: Role, offered: Role): boolean {
  return current === 'member' && offered === 'admin';
}

/** Checks that an organization keeps an admin. @throws LastAdmin if no other user is among `adminIds` */
export function assertAnotherAdmin(adminIds: readonly string[], userId: string): void {
  if (!adminIds.some((id) => id !== userId)) throw new LastAdmin();
}

/** Checks that a member can leave. @throws PersonalOrganization */
export function assertLeavable({ kind }: Pick<Organization, 'kind'>): void {
  if (kind === 'personal') throw new PersonalOrganization('left');
}
