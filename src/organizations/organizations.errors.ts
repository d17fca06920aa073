import { HttpStatus } from '@nestjs/common';
import { DomainError, NotFound } from '../common/domain-error.js';

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
