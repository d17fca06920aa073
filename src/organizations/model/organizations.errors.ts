import { HttpStatus } from '@nestjs/common';
import { DomainError, InvalidField, NotFound } from '../../common/api/domain-error.js';

/** Maximum number of existing teams that one user founded. */
export const FOUNDED_TEAMS_MAX = 100;
/** Maximum number of members of one organization. */
export const MEMBERS_MAX = 1_000;

/** No such organization, or the caller is not a member. Both cases look alike to non-members. */
export class OrganizationNotFound extends NotFound {
  constructor() {
    super('organization not found');
  }
}

/** The caller is a member, but the action needs an admin. */
export class AdminsOnly extends DomainError {
  readonly status = HttpStatus.FORBIDDEN;

  /** @param action completes "only admins can ..." */
  constructor(action: string) {
    super(`only admins can ${action}`);
  }
}

abstract class OrganizationConflict extends DomainError {
  readonly status = HttpStatus.CONFLICT;
}

/** The request has another slug than the organization. */
export class SlugCannotChange extends InvalidField {
  constructor() {
    super('invalid_slug', 'the slug cannot change');
  }
}

/** The slug belongs to an organization, or is reserved for the admin who deleted its last one. */
export class OrganizationSlugTaken extends OrganizationConflict {
  override readonly type = 'slug_taken';

  constructor() {
    super('the slug is taken: choose another slug');
  }
}

/** A personal organization keeps its only member, its name and its existence. */
export class PersonalOrganization extends OrganizationConflict {
  override readonly type = 'personal_organization';

  /** @param participle completes "a personal organization cannot be ..." */
  constructor(participle: string) {
    super(`a personal organization cannot be ${participle}`);
  }
}

/** The confirmation of a deletion differs from the slug. */
export class SlugMismatch extends OrganizationConflict {
  override readonly type = 'slug_mismatch';

  constructor() {
    super('X-Confirm-Slug must be the slug of the organization');
  }
}

/** The change would remove the only admin. */
export class LastAdmin extends OrganizationConflict {
  override readonly type = 'last_admin';

  constructor() {
    super('an organization needs an admin: make another member an admin first');
  }
}

/** The caller has founded {@link FOUNDED_TEAMS_MAX} teams. */
export class TooManyOrganizations extends OrganizationConflict {
  override readonly type = 'too_many_organizations';

  constructor() {
    super(`a user can found at most ${FOUNDED_TEAMS_MAX} teams: delete a team first`);
  }
}

/** The organization has {@link MEMBERS_MAX} members. */
export class TooManyMembers extends OrganizationConflict {
  override readonly type = 'too_many_members';

  constructor() {
    super(`an organization can have at most ${MEMBERS_MAX} members: an admin must remove a member first`);
  }
}
