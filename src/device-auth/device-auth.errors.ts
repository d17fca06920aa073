import { HttpStatus } from '@nestjs/common';
import { DomainError } from '../common/domain-error.js';
import { POLL_INTERVAL_SECONDS } from './device-flow.js';

/** The device has to ask again, no sooner than it was told. */
abstract class AskAgain extends DomainError {
  readonly status = HttpStatus.TOO_MANY_REQUESTS;
  override readonly interval = POLL_INTERVAL_SECONDS;
  override readonly headers = { 'Retry-After': String(POLL_INTERVAL_SECONDS) };
}

/** Nobody has decided yet. */
export class AuthorizationPending extends AskAgain {
  override readonly type = 'authorization_pending';

  constructor() {
    super('the request has not been decided yet');
  }
}

/** Nobody has decided yet, and the device asks too often. */
export class SlowDown extends AskAgain {
  override readonly type = 'slow_down';

  constructor() {
    super(`poll every ${POLL_INTERVAL_SECONDS} seconds`);
  }
}

/** Somebody said no, or may no longer say yes. */
export class AccessDenied extends DomainError {
  override readonly type = 'access_denied';
  readonly status = HttpStatus.BAD_REQUEST;

  constructor() {
    super('the request was denied');
  }
}

/** Too late, or the key has been fetched. */
export class ExpiredToken extends DomainError {
  override readonly type = 'expired_token';
  readonly status = HttpStatus.BAD_REQUEST;

  constructor() {
    super('the device code has expired or was used');
  }
}

/** The request cannot be understood. */
export class InvalidRequest extends DomainError {
  override readonly type = 'invalid_request';
  readonly status = HttpStatus.BAD_REQUEST;
}

/** A device code that we never gave out. */
export class UnknownDeviceCode extends InvalidRequest {
  constructor() {
    super('the device code is not one of ours');
  }
}

/** The device has left, so that this is told to nobody. */
export class DeviceGone extends InvalidRequest {
  constructor() {
    super('the connection was closed');
  }
}

/** Too often from one address, or by one user. */
export class RateLimited extends DomainError {
  override readonly type = 'rate_limited';
  readonly status = HttpStatus.TOO_MANY_REQUESTS;
  override readonly headers: Readonly<Record<string, string>>;

  constructor(readonly retryAfterSeconds: number) {
    super('too many attempts');
    this.headers = { 'Retry-After': String(retryAfterSeconds) };
  }
}

/** One answer for codes that are malformed, unknown, expired and used. */
export class InvalidUserCode extends DomainError {
  override readonly type = 'invalid_user_code';
  readonly status = HttpStatus.NOT_FOUND;

  constructor() {
    super('the code is not valid, or no longer');
  }
}

/** A form that did not come from a page of ours, or not from one of this session. */
export class CsrfFailed extends DomainError {
  override readonly type = 'csrf_failed';
  readonly status = HttpStatus.FORBIDDEN;

  /** @param userCode to go on with, where the form has come from a page of ours and only the session is another */
  constructor(readonly userCode?: string) {
    super('the form did not come from this page');
  }
}

/** The browser has no session: a page shows where it gets one. */
export class SignInNeeded extends DomainError {
  override readonly type = 'sign_in_needed';
  readonly status: HttpStatus = HttpStatus.UNAUTHORIZED;

  /** @param location with the way back; undefined when there is no such place */
  constructor(readonly location?: string) {
    super('a valid session is required');
  }
}

/** {@link SignInNeeded} for a browser that can be sent there at once. */
export class SentToSignIn extends SignInNeeded {
  override readonly status = HttpStatus.SEE_OTHER;
  override readonly headers: Readonly<Record<string, string>>;

  constructor(location: string) {
    super(location);
    this.headers = { Location: location };
  }
}
