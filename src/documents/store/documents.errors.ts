import { HttpStatus } from '@nestjs/common';
import { DomainError } from '../../common/api/domain-error.js';

/** Maximum number of documents of one project. */
export const DOCUMENTS_MAX = 10_000;

/** Another document of the project has this slug. */
export class SlugTaken extends DomainError {
  override readonly type = 'slug_taken';
  readonly status = HttpStatus.CONFLICT;

  constructor() {
    super('a document with this slug exists already in the project');
  }
}

/** The project is at its limit of documents. */
export class TooManyDocuments extends DomainError {
  override readonly type = 'too_many_documents';
  readonly status = HttpStatus.CONFLICT;

  constructor() {
    super(`a project has at most ${DOCUMENTS_MAX} documents: delete one first`);
  }
}

/** No export slot became free in time. */
export class TooManyExports extends DomainError {
  override readonly type = 'rate_limited';
  readonly status = HttpStatus.TOO_MANY_REQUESTS;
  override readonly headers = { 'Retry-After': '10' };

  constructor() {
    super('too many concurrent exports');
  }
}

export type BodyLoss = 'missing' | 'altered';

/**
 * Object storage does not hold the body that the row describes. Always an internal error: an empty body in the
 * response would look like an empty document.
 */
export class BodyLost extends Error {
  constructor(documentId: number, loss: BodyLoss) {
    super(`the body of document ${documentId} is ${loss}`);
  }
}
