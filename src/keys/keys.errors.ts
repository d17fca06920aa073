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

/**
 * The database cannot be asked, and what it said last was not recent enough to do without. The proxy has its own words
 * for it.
 */
export class DatabaseUnavailable extends Error {}
