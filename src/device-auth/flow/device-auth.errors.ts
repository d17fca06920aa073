import { HttpStatus } from '@nestjs/common';
import { DomainError } from '../../common/api/domain-error.js';
import { POLL_INTERVAL_SECONDS } from './device-flow.js';

/** The device must poll again, after the interval that it was given. */
abstract class PollAgain extends DomainError {
  readonly status = HttpStatus.TOO_MANY_REQUESTS;
  override readonly interval = POLL_INTERVAL_SECONDS;
  override readonly headers = { 'Retry-After': String(POLL_INTERVAL_SECONDS) };
}

/** Nobody has decided yet. */
export class AuthorizationPending extends PollAgain {
  override readonly type = 'authorization_pending';

  constructor() {
    super('the request is waiting for approval');
  }
}

/** Nobody has decided yet, and the device polls too often. */
export class SlowDown extends PollAgain {
  override readonly type = 'slow_down';

  constructor() {
    super(`polled too often; wait ${POLL_INTERVAL_SECONDS} seconds between polls`);
  }
}

/** A person denied the request, or the approver has left the team or reached the limit of keys. */
export class AccessDenied extends DomainError {
  override readonly type = 'access_denied';
  readonly status = HttpStatus.BAD_REQUEST;

  constructor() {
    super('the request was denied');
  }
}

/** The code has expired, or its key was fetched already. */
export class ExpiredToken extends DomainError {
  override readonly type = 'expired_token';
  readonly status = HttpStatus.BAD_REQUEST;

  constructor() {
    super('the device code has expired or was used already');
  }
}

/** The request is malformed. */
export class InvalidRequest extends DomainError {
  override readonly type = 'invalid_request';
  readonly status = HttpStatus.BAD_REQUEST;
}

/** The body is not a form. */
export class NotAForm extends InvalidRequest {
  constructor() {
    super('the body must be application/x-www-form-urlencoded');
  }
}

/** mintkeep never issued this device code. */
export class UnknownDeviceCode extends InvalidRequest {
  constructor() {
    super('unknown device code');
  }
}

/** The device closed its connection, so nobody receives this error. */
export class DeviceDisconnected extends InvalidRequest {
  constructor() {
    super('the connection was closed');
  }
}

/** The address or the user made too many attempts. */
export class RateLimited extends DomainError {
  override readonly type = 'rate_limited';
  readonly status = HttpStatus.TOO_MANY_REQUESTS;
  override readonly headers: Readonly<Record<string, string>>;

  constructor(readonly retryAfterSeconds: number) {
    super('too many attempts; retry later');
    this.headers = { 'Retry-After': String(retryAfterSeconds) };
  }
}

/** The same response for malformed, unknown, expired and used codes, so that none can be told from another. */
export class InvalidUserCode extends DomainError {
  override readonly type = 'invalid_user_code';
  readonly status = HttpStatus.NOT_FOUND;

  constructor() {
    super('the code is unknown, expired or already used');
  }
}

/** The form was not sent by a page of mintkeep, or belongs to another session. */
export class CsrfFailed extends DomainError {
  override readonly type = 'csrf_failed';
  readonly status = HttpStatus.FORBIDDEN;

  /** @param userCode code to reopen the page with, if only the session differs */
  constructor(readonly userCode?: string) {
    super('the form was not sent by this page in this session');
  }
}

/** The browser has no session: a page shows how to sign in. */
export class SignInRequired extends DomainError {
  override readonly type = 'sign_in_needed';
  readonly status: HttpStatus = HttpStatus.UNAUTHORIZED;
  override readonly headers: Readonly<Record<string, string>>;

  /**
   * @param location sign-in URL that leads back; undefined without `SIGN_IN_URL`
   * @param cookie cookie to set
   */
  constructor(
    readonly location?: string,
    cookie?: string,
  ) {
    super('a valid session is required');
    this.headers = cookie === undefined ? {} : { 'Set-Cookie': cookie };
  }
}

/** {@link SignInRequired} for a browser that can be redirected to the sign-in. */
export class RedirectToSignIn extends SignInRequired {
  override readonly status = HttpStatus.SEE_OTHER;
  override readonly headers: Readonly<Record<string, string>>;

  constructor(location: string, cookie?: string) {
    super(location, cookie);
    this.headers = { ...this.headers, Location: location };
  }
}
