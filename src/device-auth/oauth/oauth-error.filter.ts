import { Catch, HttpStatus } from '@nestjs/common';
import { DomainError } from '../../common/api/domain-error.js';
import { ErrorFilter } from '../../common/api/error.filter.js';
import type { ErrorResponse, Rejection } from '../../common/api/error.filter.js';
import { UnknownDeviceCode } from '../flow/device-auth.errors.js';

/**
 * Formats errors as in RFC 6749, section 5.2: a flat object. The status is 400 even while the device must poll again
 * (RFC 8628, section 3.5).
 */
@Catch()
export class OAuthErrorFilter extends ErrorFilter {
  override toResponse(rejection: Rejection): ErrorResponse {
    const { status, type, message, interval } =
      rejection instanceof UnknownDeviceCode ? new InvalidGrant() : rejection;
    const isBadRequest = interval !== undefined || status === Number(HttpStatus.UNSUPPORTED_MEDIA_TYPE);
    const error = type ?? (status < 500 ? 'invalid_request' : 'server_error');
    return {
      status: isBadRequest ? HttpStatus.BAD_REQUEST : status,
      body: { error, error_description: message },
    };
  }
}

/** RFC 6749, section 5.2. The device code is the only grant. */
export class UnsupportedGrantType extends DomainError {
  override readonly type = 'unsupported_grant_type';
  readonly status = HttpStatus.BAD_REQUEST;

  constructor(supported: string) {
    super(`unsupported grant_type; expected ${supported}`);
  }
}

/** RFC 6750, section 3.1. The same response for every token that is not the working key of the caller. */
export class InvalidToken extends DomainError {
  override readonly type = 'invalid_token';
  readonly status = HttpStatus.UNAUTHORIZED;
  override readonly headers = { 'WWW-Authenticate': 'Bearer error="invalid_token"' };

  constructor() {
    super('a valid key is required, in the Authorization header and as token');
  }
}

/** RFC 6749, section 5.2: the OAuth name of {@link UnknownDeviceCode}. */
class InvalidGrant extends DomainError {
  override readonly type = 'invalid_grant';
  readonly status = HttpStatus.BAD_REQUEST;

  constructor() {
    super('unknown device code');
  }
}
