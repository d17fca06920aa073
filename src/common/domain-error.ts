import { HttpStatus } from '@nestjs/common';

/**
 * A refusal that a client is told about. Services throw it, {@link ErrorFilter} turns it into
 * `{"error": {"type"?, "message", "interval"?}}`. Anything else that is thrown is an internal error.
 */
export abstract class DomainError extends Error {
  /** Stable name that clients branch on; left out of the body where undefined. */
  readonly type?: string;
  abstract readonly status: HttpStatus;
  /** Seconds between two polls, for clients that are to ask again. */
  readonly interval?: number;
  /** Response headers that belong to the refusal, such as `Allow`. */
  readonly headers: Readonly<Record<string, string>> = {};
}

/** 400 without a type: the request as such cannot be understood. */
export class BadRequest extends DomainError {
  readonly status = HttpStatus.BAD_REQUEST;
}

/** 400 for one member of a body, with that member's type where it has one (`invalid_name`, ...). */
export class InvalidField extends DomainError {
  readonly status = HttpStatus.BAD_REQUEST;

  constructor(
    override readonly type: string | undefined,
    message: string,
  ) {
    super(message);
  }
}

/** 415: bodies are taken as they are, never decompressed. */
export class UnsupportedEncoding extends DomainError {
  readonly status = HttpStatus.UNSUPPORTED_MEDIA_TYPE;

  constructor() {
    super('the body must not have a content encoding');
  }
}

/** 404: does not exist, or belongs to another owner; the two are not told apart. */
export class NotFound extends DomainError {
  readonly status = HttpStatus.NOT_FOUND;

  constructor(message = 'not found') {
    super(message);
  }
}

/** 405 with the methods that the path does have. */
export class MethodNotAllowed extends DomainError {
  readonly status = HttpStatus.METHOD_NOT_ALLOWED;
  override readonly headers: Readonly<Record<string, string>>;

  constructor(allowed: readonly string[]) {
    super('method not allowed');
    this.headers = { Allow: allowed.join(', ') };
  }
}

/** 412: the resource is no longer the one that `If-Match` names. */
export class PreconditionFailed extends DomainError {
  override readonly type = 'precondition_failed';
  readonly status = HttpStatus.PRECONDITION_FAILED;

  constructor() {
    super('the resource has changed since it was read');
  }
}
