import { field } from '../../common/fields.js';
import { normalBaseUrl } from '../base-url.js';

const API_KEY = /^[\x21-\x7e]{8,4096}$/;
const MAX_PRIORITY = 1_000_000;

/** Where an upstream is; whether it may be there is decided when it is saved. */
export function BaseUrl(): PropertyDecorator {
  return field(
    {
      name: 'baseUrl',
      test: (value) => typeof value === 'string' && normalBaseUrl(value) !== undefined,
      expects:
        'must be an http or https URL of at most 2,048 characters, without user info, query and fragment',
      schema: { type: 'string', format: 'uri', maxLength: 2_048 },
    },
    'invalid_base_url',
  );
}

/** A secret that fits into a header; never trimmed. */
export function ApiKey(): PropertyDecorator {
  return field(
    {
      name: 'apiKey',
      test: (value) => typeof value === 'string' && API_KEY.test(value),
      expects: 'must be 8 to 4,096 visible ASCII characters',
      schema: { type: 'string', pattern: '^[!-~]{8,4096}$', writeOnly: true },
    },
    'invalid_api_key',
  );
}

export function Priority(): PropertyDecorator {
  return field(
    {
      name: 'priority',
      test: (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_PRIORITY,
      expects: `must be an integer from 0 to ${MAX_PRIORITY}`,
      schema: { type: 'integer', minimum: 0, maximum: MAX_PRIORITY },
    },
    'invalid_priority',
  );
}

export function Flag(): PropertyDecorator {
  return field({
    name: 'flag',
    test: (value) => typeof value === 'boolean',
    expects: 'must be true or false',
    schema: { type: 'boolean' },
  });
}
