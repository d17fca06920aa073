import { BadRequest } from '../common/domain-error.js';

/** That a filter may have. */
export const MAX_VALUES = 100;
/** Of one answer. */
export const MAX_BUCKETS = 2_500;
export const MAX_GROUPS = 50_000;

export class EmptyRange extends BadRequest {
  constructor() {
    super('from must be before to');
  }
}

export class NotATime extends BadRequest {
  constructor(parameter: string) {
    super(`${parameter} must be a date, or a time with a time zone, as ISO 8601`);
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
    super(`${parameter} must not be empty or hold characters that cannot be stored`);
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
    super(`there are more than ${MAX_GROUPS} groups: ask for less time or larger buckets`);
  }
}

/** To sum up would. */
export class SummaryTakesTooLong extends BadRequest {
  constructor() {
    super('this takes too long: ask for less time, larger buckets or fewer groups');
  }
}

/** To look for single records would. */
export class SearchTakesTooLong extends BadRequest {
  constructor() {
    super('this takes too long: ask for less time');
  }
}
