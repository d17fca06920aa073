import { HttpStatus } from '@nestjs/common';
import { BadRequest, DomainError } from '../../common/api/domain-error.js';

/** Limit of the values of one filter. */
export const MAX_VALUES = 100;
/** Limit of the buckets of one response. */
export const MAX_BUCKETS = 2_500;
export const MAX_GROUPS = 50_000;

export class EmptyRange extends BadRequest {
  constructor() {
    super('from must be before to');
  }
}

export class NotATime extends BadRequest {
  constructor(parameter: string) {
    super(`${parameter} must be a date or a time with a time zone, as ISO 8601`);
  }
}

export class NotOneOf extends BadRequest {
  constructor(parameter: string, values: readonly string[]) {
    super(`${parameter} must be one of ${values.join(', ')}`);
  }
}

export class NotIds extends BadRequest {
  constructor(parameter: string) {
    super(`${parameter} must be ids`);
  }
}

export class NotStatuses extends BadRequest {
  constructor(parameter: string) {
    super(`${parameter} must be HTTP statuses`);
  }
}

export class NotNames extends BadRequest {
  constructor(parameter: string) {
    super(`${parameter} must not be empty and must not contain U+0000 or lone surrogates`);
  }
}

export class TooManyValues extends BadRequest {
  constructor(parameter: string) {
    super(`${parameter} has more than ${MAX_VALUES} values`);
  }
}

export class TooManyBuckets extends BadRequest {
  constructor() {
    super(`from and to are more than ${MAX_BUCKETS} buckets apart`);
  }
}

export class TooManyGroups extends BadRequest {
  constructor() {
    super(`there are more than ${MAX_GROUPS} groups: request a shorter time or larger buckets`);
  }
}

export class SummaryTakesTooLong extends BadRequest {
  constructor() {
    super('the query takes too long: request a shorter time, larger buckets or fewer groups');
  }
}

export class SearchTakesTooLong extends BadRequest {
  constructor() {
    super('the query takes too long: request a shorter time');
  }
}

const RETRY_AFTER_SECONDS = 5;

/** Thrown when no slot for the query becomes free in time. */
export class TooManyQueries extends DomainError {
  override readonly type = 'rate_limited';
  readonly status = HttpStatus.TOO_MANY_REQUESTS;
  override readonly headers = { 'Retry-After': String(RETRY_AFTER_SECONDS) };

  constructor() {
    super('too many concurrent usage queries');
  }
}
