import { HttpStatus } from '@nestjs/common';
import { BadRequest, DomainError } from '../common/api/domain-error.js';

/** 401: only holders of the admin token may read the metrics. */
export class AdminTokenRequired extends DomainError {
  readonly status = HttpStatus.UNAUTHORIZED;
  override readonly headers = { 'WWW-Authenticate': 'Bearer' };

  constructor() {
    super('the admin token is required');
  }
}

/** 400: `for` names a part of the service that has no readiness of its own. */
export class UnknownPart extends BadRequest {
  constructor() {
    super('for must be proxy, or absent');
  }
}
