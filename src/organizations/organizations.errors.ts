import { HttpStatus } from '@nestjs/common';
import { DomainError, InvalidField, NotFound } from '../common/domain-error.js';

/** Also for an organization that exists and is not the caller's: strangers learn nothing. */
export class OrganizationNotFound extends NotFound {
  constructor() {
    super('organization not found');
  }
}

/** 403: the caller is a member, and that is not enough. */
export class AdminsOnly extends DomainError {
  readonly status = HttpStatus.FORBIDDEN;

  /** @param what completes "only admins can ..." */
  constructor(what: string) {
    super(`only admins can ${what}`);
  }
}

abstract class OrganizationConflict extends DomainError {
  readonly status = HttpStatus.CONFLICT;
}

/** It is for life. */
export class SlugCannotChange extends InvalidField {
  constructor() {
    super('invalid_slug', 'the slug cannot change');
  }
}

/** The slug belongs to an organization, or is reserved for the admin who deleted its last one. */
export class OrganizationSlugTaken extends OrganizationConflict {
  override readonly type = 'slug_taken';

  constructor() {
    super('the slug is taken');
  }
}

/** A personal organization is for its user alone, for life. */
export class PersonalOrganization extends OrganizationConflict {
  override readonly type = 'personal_organization';

  /** @param what completes "a personal organization cannot be ..." */
  constructor(what: string) {
    super(`a personal organization cannot be ${what}`);
  }
}

/** What was typed to confirm a deletion is not the slug. */
export class SlugMismatch extends OrganizationConflict {
  override readonly type = 'slug_mismatch';

  constructor() {
    super('X-Confirm-Slug is not the slug of the organization');
  }
}

/** An organization always has an admin. */
export class LastAdmin extends OrganizationConflict {
  override readonly type = 'last_admin';

  constructor() {
    super('the organization would be left without an admin');
  }
}
