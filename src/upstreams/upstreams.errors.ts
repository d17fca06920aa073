import { HttpStatus } from '@nestjs/common';
import { DomainError, InvalidField } from '../common/api/domain-error.js';

/** Maximum number of upstreams of one owner. */
export const UPSTREAMS_MAX = 100;

/** The owner has another upstream of this name. */
export class NameTaken extends DomainError {
  override readonly type = 'name_taken';
  readonly status = HttpStatus.CONFLICT;

  constructor() {
    super('an upstream with this name already exists: choose another name');
  }
}

/** The owner has {@link UPSTREAMS_MAX} upstreams. */
export class TooManyUpstreams extends DomainError {
  override readonly type = 'too_many_upstreams';
  readonly status = HttpStatus.CONFLICT;

  constructor() {
    super(`an owner can have at most ${UPSTREAMS_MAX} upstreams: delete one first`);
  }
}

/** Maximum size of the model rules of all upstreams of one owner, as JSON in bytes. */
export const MODEL_RULES_MAX_BYTES = 4_194_304;

/** The model rules of an owner exceed {@link MODEL_RULES_MAX_BYTES}. */
export class ModelRulesTooLong extends DomainError {
  override readonly type = 'models_too_long';
  readonly status = HttpStatus.CONFLICT;

  constructor() {
    super('the model rules of all upstreams of an owner can have at most 4 MiB: shorten or remove some');
  }
}

/** The host of a base URL has an address that is not allowed. */
export class BaseUrlRejected extends InvalidField {
  constructor(reason: string) {
    super('invalid_base_url', `base_url is not allowed: ${reason}`);
  }
}

/** A new origin needs the API key again. Otherwise an admin could send a stored key to a server of their own. */
export class ApiKeyRequired extends InvalidField {
  constructor() {
    super('invalid_api_key', 'api_key must be sent when scheme, host or port of base_url change');
  }
}
