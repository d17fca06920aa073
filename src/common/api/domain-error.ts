import { HttpStatus } from '@nestjs/common';

/**
 * Error that is meant for the client. Services throw it, and {@link ErrorFilter} responds with
 * `{"error": {"type"?, "message", "interval"?}}`. Any other error is an internal error.
 */
export abstract class DomainError extends Error {
  /** Stable name that clients branch on; left out of the body where undefined. */
  readonly type?: string;
  abstract readonly status: HttpStatus;
  /** Seconds between two polls, for clients that are expected to poll again. */
  readonly interval?: number;
  /** Response headers of the rejection, such as `Allow`. */
  readonly headers: Readonly<Record<string, string>> = {};
}

/** 400 without a type: the request is malformed as a whole. */
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

/** 408: the body did not arrive within its time. The connection ends, because the rest of the body may never come. */
export class RequestTimeout extends DomainError {
  readonly status = HttpStatus.REQUEST_TIMEOUT;

  constructor() {
    super('the request did not arrive in time');
  }
}

/** 431: decided before there is a request to route, so that the response has the same format everywhere. */
export const HEADERS_TOO_LARGE = { status: 431, message: 'the headers are too large or too many' } as const;

/** 415: bodies are never decompressed. */
export class UnsupportedEncoding extends DomainError {
  readonly status = HttpStatus.UNSUPPORTED_MEDIA_TYPE;

  constructor() {
    super('the body must not have a Content-Encoding');
  }
}

/** 404: the resource does not exist or belongs to another owner. The response does not reveal which. */
export class NotFound extends DomainError {
  readonly status = HttpStatus.NOT_FOUND;

  constructor(message = 'not found') {
    super(message);
  }
}

/** 405 with the methods that the path supports. */
export class MethodNotAllowed extends DomainError {
  readonly status = HttpStatus.METHOD_NOT_ALLOWED;
  override readonly headers: Readonly<Record<string, string>>;

  constructor(allowed: readonly string[]) {
    super('method not allowed');
    this.headers = { Allow: allowed.join(', ') };
  }
}

/** 412: the entity tag of the resource is not in `If-Match`. */
export class PreconditionFailed extends DomainError {
  override readonly type = 'precondition_failed';
  readonly status = HttpStatus.PRECONDITION_FAILED;

  constructor() {
    super('the resource has changed since it was read');
  }
}
