import { HttpStatus } from '@nestjs/common';
import { DomainError } from '../common/domain-error.js';

/** The owner has another project of this name. */
export class NameTaken extends DomainError {
  override readonly type = 'name_taken';
  readonly status = HttpStatus.CONFLICT;

  constructor() {
    super('a project with this name exists already');
  }
}
