import { HttpStatus } from '@nestjs/common';
import { DomainError } from '../common/api/domain-error.js';

/** Maximum size of all descriptions of one owner's projects, because a list response contains all of them. */
export const DESCRIPTIONS_BYTES = 8 * 1024 * 1024;

/** Maximum number of projects of one owner. */
export const PROJECTS_MAX = 1_000;

/** The owner has another project of this name. */
export class NameTaken extends DomainError {
  override readonly type = 'name_taken';
  readonly status = HttpStatus.CONFLICT;

  constructor() {
    super('a project with this name already exists: choose another name');
  }
}

/** The descriptions of the owner's projects would exceed {@link DESCRIPTIONS_BYTES}. */
export class DescriptionsTooLong extends DomainError {
  override readonly type = 'descriptions_too_long';
  readonly status = HttpStatus.CONFLICT;

  constructor() {
    super(`all project descriptions together exceed ${DESCRIPTIONS_BYTES} bytes: shorten one first`);
  }
}

/** The owner has {@link PROJECTS_MAX} projects. */
export class TooManyProjects extends DomainError {
  override readonly type = 'too_many_projects';
  readonly status = HttpStatus.CONFLICT;

  constructor() {
    super(`an owner can have at most ${PROJECTS_MAX} projects: delete one first`);
  }
}
