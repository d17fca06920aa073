import { ValidateBy } from 'class-validator';
import type { FieldContext } from '../../common/json-body.js';
import { normalBaseUrl } from '../base-url.js';

const API_KEY = /^[\x21-\x7e]{8,4096}$/;
export const MAX_PRIORITY = 1_000_000;

function field(name: string, test: (value: unknown) => boolean, expects: string, type?: string) {
  const context: FieldContext = { type };
  return ValidateBy(
    { name, validator: { validate: test, defaultMessage: (args) => `${args?.property} ${expects}` } },
    { context },
  );
}

/** Where an upstream is; whether it may be there is decided when it is saved. */
export function BaseUrl(): PropertyDecorator {
  return field(
    'baseUrl',
    (value) => typeof value === 'string' && normalBaseUrl(value) !== undefined,
    'must be an http or https URL of at most 2,048 characters, without user info, query and fragment',
    'invalid_base_url',
  );
}

/** A secret that fits into a header; never trimmed. */
export function ApiKey(): PropertyDecorator {
  return field(
    'apiKey',
    (value) => typeof value === 'string' && API_KEY.test(value),
    'must be 8 to 4,096 visible ASCII characters',
    'invalid_api_key',
  );
}

export function Priority(): PropertyDecorator {
  return field(
    'priority',
    (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_PRIORITY,
    `must be an integer from 0 to ${MAX_PRIORITY}`,
    'invalid_priority',
  );
}

export function Flag(): PropertyDecorator {
  return field('flag', (value) => typeof value === 'boolean', 'must be true or false');
}
