import { field } from '../../common/body/fields.js';
import { nestedField } from '../../common/body/nested-field.js';
import { PATTERN_MAX } from '../../common/text/model-pattern.js';
import { normalizeBaseUrl } from '../base-url.js';
import {
  FAILOVER_STATUSES,
  parseFailoverStatuses,
  parseModelRules,
  RULES_MAX,
} from '../models/parse-model-rules.js';

const API_KEY = /^[\x21-\x7e]{8,4096}$/;
const MAX_PRIORITY = 1_000_000;

/** Base URL of an upstream. The address of its host is checked later, when the upstream is saved. */
export function BaseUrl(): PropertyDecorator {
  return field(
    {
      name: 'baseUrl',
      test: (value) => typeof value === 'string' && normalizeBaseUrl(value) !== undefined,
      expects:
        'must be an http or https URL of at most 2,048 characters, without user info, query and fragment',
      schema: { type: 'string', format: 'uri', maxLength: 2_048 },
    },
    'invalid_base_url',
  );
}

/** API key that is a valid header value. Never trimmed. */
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

const PATTERN = { type: 'string', minLength: 1, maxLength: PATTERN_MAX };
const RULE = {
  type: 'object',
  properties: {
    model: { ...PATTERN, example: 'openai/*' },
    as: { ...PATTERN, nullable: true, example: '*' },
  },
  required: ['model'],
};

/** Rules for the models that the upstream serves; null for every model. */
export function ModelRuleList(): PropertyDecorator {
  const schema = {
    type: 'array',
    items: RULE,
    minItems: 1,
    maxItems: RULES_MAX,
    nullable: true,
    required: false,
  };
  return nestedField({ parse: parseModelRules, isNullable: true, schema }, 'invalid_models');
}

/** Statuses below 500 that count as failures of the upstream. */
export function FailoverStatuses(): PropertyDecorator {
  const items = { type: 'integer', enum: FAILOVER_STATUSES };
  const schema = { type: 'array', items, uniqueItems: true, required: false };
  return nestedField({ parse: parseFailoverStatuses, schema }, 'invalid_failover_on');
}
