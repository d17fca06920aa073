import { HttpStatus } from '@nestjs/common';
import { DomainError } from '../common/domain-error.js';

/** A key belongs to one owner for life. */
export class ScopeImmutable extends DomainError {
  override readonly type = 'scope_immutable';
  readonly status = HttpStatus.BAD_REQUEST;

  constructor() {
    super('the organization of a key cannot change');
  }
}

/** The database cannot be asked, and the key was not verified recently enough to do without. */
export class DatabaseUnavailable extends DomainError {
  override readonly type = 'database_unavailable';
  readonly status = HttpStatus.SERVICE_UNAVAILABLE;

  constructor() {
    super('the key cannot be verified at the moment');
  }
}
