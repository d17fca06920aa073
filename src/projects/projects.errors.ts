import { HttpStatus } from '@nestjs/common';
import { DomainError } from '../common/domain-error.js';

/** Bytes in the descriptions of one owner's projects together: a list has all of them. */
export const DESCRIPTIONS_BYTES = 8 * 1024 * 1024;

/** The owner has another project of this name. */
export class NameTaken extends DomainError {
  override readonly type = 'name_taken';
  readonly status = HttpStatus.CONFLICT;

  constructor() {
    super('a project with this name exists already');
  }
}

/** The owner's projects would have longer descriptions than there may be. */
export class DescriptionsTooLong extends DomainError {
  override readonly type = 'descriptions_too_long';
  readonly status = HttpStatus.CONFLICT;

  constructor() {
    super(`the descriptions of all projects take more than ${DESCRIPTIONS_BYTES} bytes together`);
  }
}
