import { HttpStatus } from '@nestjs/common';
import { DomainError } from '../common/domain-error.js';

/** One answer for every credential that is not a valid session, so that none can be told from another. */
export class NoValidSession extends DomainError {
  readonly status = HttpStatus.UNAUTHORIZED;
  override readonly headers = { 'WWW-Authenticate': 'Bearer' };

  constructor() {
    super('a valid session is required');
  }
}

/** The session may be good or not: the keys to tell are not to be had. */
export class IdentityProviderUnavailable extends DomainError {
  override readonly type = 'identity_provider_unavailable';
  readonly status = HttpStatus.SERVICE_UNAVAILABLE;

  constructor() {
    super('the identity provider cannot be reached to verify the session');
  }
}
