import { HttpStatus } from '@nestjs/common';
import { DomainError } from '../common/domain-error.js';

/** The request comes from another site, or under a name that is not this machine's. */
export class NotFromHere extends DomainError {
  readonly status = HttpStatus.FORBIDDEN;

  constructor() {
    super('the development sign-in is for this machine only');
  }
}
