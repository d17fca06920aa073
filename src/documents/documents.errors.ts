import { HttpStatus } from '@nestjs/common';
import { DomainError } from '../common/domain-error.js';

/** The project has another document under this slug. */
export class SlugTaken extends DomainError {
  override readonly type = 'slug_taken';
  readonly status = HttpStatus.CONFLICT;

  constructor() {
    super('a document with this slug exists already in the project');
  }
}

export type BodyLoss = 'missing' | 'altered';

/** The bucket does not hold what the row says. Never the client's fault, and never answered with an empty body. */
export class BodyLost extends Error {
  constructor(documentId: number, what: BodyLoss) {
    super(`the body of document ${documentId} is ${what}`);
  }
}
