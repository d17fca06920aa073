import { HttpStatus } from '@nestjs/common';
import { DomainError } from '../common/domain-error.js';

/** 401: the figures are for whoever has the admin token. */
export class NoAdminToken extends DomainError {
  readonly status = HttpStatus.UNAUTHORIZED;
  override readonly headers = { 'WWW-Authenticate': 'Bearer' };

  constructor() {
    super('the admin token is required');
  }
}
