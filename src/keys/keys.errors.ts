import { HttpStatus } from '@nestjs/common';
import { DomainError } from '../common/api/domain-error.js';

/** The request has another owner than the key. */
export class ScopeImmutable extends DomainError {
  override readonly type = 'scope_immutable';
  readonly status = HttpStatus.BAD_REQUEST;

  constructor() {
    super('the organization of a key cannot change');
  }
}

/** The database is unreachable, and the grace period of the key is over. The proxy maps this error to a response. */
export class DatabaseUnavailable extends Error {}

/** Maximum numbers of live keys, which are neither revoked nor expired. */
export const KEYS_MAX = { ofUserInOrganization: 1_000, ofUser: 2_000, ofOrganization: 10_000 } as const;

const FULL = {
  ofUserInOrganization: 'a user can have at most %d live keys in one organization',
  ofUser: 'a user can have at most %d live keys in total',
  ofOrganization: 'an organization can have at most %d live keys',
} as const;

/** The user or the organization has as many live keys as {@link KEYS_MAX} allows. */
export class TooManyKeys extends DomainError {
  override readonly type = 'too_many_keys';
  readonly status = HttpStatus.CONFLICT;

  constructor(cap: keyof typeof KEYS_MAX = 'ofUserInOrganization') {
    super(`${FULL[cap].replace('%d', String(KEYS_MAX[cap]))}: revoke one first`);
  }
}
