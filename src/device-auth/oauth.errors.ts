import { HttpStatus } from '@nestjs/common';
import { DomainError } from '../common/domain-error.js';

/** RFC 6749, 5.2: there is one way here to get a token. */
export class UnsupportedGrantType extends DomainError {
  override readonly type = 'unsupported_grant_type';
  readonly status = HttpStatus.BAD_REQUEST;

  constructor() {
    super('the grant type is not supported');
  }
}

/** RFC 6749, 5.2: what {@link UnknownDeviceCode} is called there. */
export class InvalidGrant extends DomainError {
  override readonly type = 'invalid_grant';
  readonly status = HttpStatus.BAD_REQUEST;

  constructor() {
    super('the device code is not one of ours');
  }
}
