import { HttpStatus } from '@nestjs/common';
import { DomainError, InvalidField } from '../common/domain-error.js';

/** Of one owner: a request may have to try all of them. */
export const UPSTREAMS_MAX = 1_000;

/** The owner has another upstream of this name. */
export class NameTaken extends DomainError {
  override readonly type = 'name_taken';
  readonly status = HttpStatus.CONFLICT;

  constructor() {
    super('an upstream with this name exists already');
  }
}

/** The owner has as many upstreams as there may be. */
export class TooManyUpstreams extends DomainError {
  override readonly type = 'too_many_upstreams';
  readonly status = HttpStatus.CONFLICT;

  constructor() {
    super(`there are ${UPSTREAMS_MAX} upstreams already, and no more can be added`);
  }
}

/** The host of a base URL is one that no upstream may have. */
export class BaseUrlRefused extends InvalidField {
  constructor(reason: string) {
    super('invalid_base_url', `base_url is refused: ${reason}`);
  }
}

/** Otherwise whoever may change an upstream could have its API key sent to a server of their own. */
export class ApiKeyNeeded extends InvalidField {
  constructor() {
    super('invalid_api_key', 'api_key must be sent along when scheme, host or port of base_url change');
  }
}
