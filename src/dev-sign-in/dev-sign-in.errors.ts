import { HttpStatus } from '@nestjs/common';
import { DomainError } from '../common/api/domain-error.js';

/** The request comes from another site or machine, or uses a host name other than this machine's. */
export class NotLocalRequest extends DomainError {
  readonly status = HttpStatus.FORBIDDEN;

  constructor() {
    super('the development sign-in accepts requests from this machine only');
  }
}
