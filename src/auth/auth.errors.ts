import { HttpStatus } from '@nestjs/common';
import { DomainError } from '../common/api/domain-error.js';

/** The same response for every credential that is no valid session, so that none can be told from another. */
export class NoValidSession extends DomainError {
  readonly status = HttpStatus.UNAUTHORIZED;
  override readonly headers = { 'WWW-Authenticate': 'Bearer' };

  constructor() {
    super('a valid session is required');
  }
}

/** The session cannot be verified, because no key set of the identity provider is available. */
export class IdentityProviderUnavailable extends DomainError {
  override readonly type = 'identity_provider_unavailable';
  readonly status = HttpStatus.SERVICE_UNAVAILABLE;

  constructor() {
    super('the session cannot be verified: the identity provider is unavailable; retry later');
  }
}
