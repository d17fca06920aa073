import type { Organization } from './organization.entity.js';
import { PersonalOrganization, SlugCannotChange, SlugMismatch } from './organizations.errors.js';

type Facts = Pick<Organization, 'kind' | 'slug'>;

/** Checks that only the name of a team changes. @throws SlugCannotChange @throws PersonalOrganization */
export function assertRenamable({ kind, slug }: Facts, requestedSlug: string | undefined): void {
  if (requestedSlug !== undefined && requestedSlug !== slug) throw new SlugCannotChange();
  if (kind === 'personal') throw new PersonalOrganization('renamed');
}

/**
 * Checks that a team is deleted. A confirmation is compared only if the client sent one.
 * @returns the slug, which stays reserved
 * @throws PersonalOrganization @throws SlugMismatch
 */
export function slugToRelease({ kind, slug }: Facts, confirmation: string | undefined): string {
  if (kind === 'personal' || slug === null) throw new PersonalOrganization('deleted');
  if (confirmation !== undefined && confirmation !== slug) throw new SlugMismatch();
  return slug;
}

/** Checks that a team invites. @returns the slug @throws PersonalOrganization */
export function slugToInviteTo({ kind, slug }: Facts): string {
  if (kind === 'personal' || slug === null) throw new PersonalOrganization('invited to');
  return slug;
}
