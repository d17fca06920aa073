import { ID, object, oneOf, orNull, text, TIME, USER_ID } from '../../common/api/members.js';
import {
  duration,
  flag,
  freeText,
  freeTextOrNull,
  id,
  idOrNull,
  integer,
  money,
  tokenCount,
  word,
} from './usage-field.js';
import type { SummedField, UsageField } from './usage-field.js';

export const USAGE_OUTCOMES = [
  'ok',
  'client_error',
  'upstream_error',
  'client_gone',
  'interrupted',
  'no_upstream',
] as const;
export type UsageOutcome = (typeof USAGE_OUTCOMES)[number];

/** Origin of the token counts: final figures of the provider, figures of a stream that ended early, or nothing. */
const USAGE_SOURCES = ['provider', 'partial', 'none'] as const;
export type UsageSource = (typeof USAGE_SOURCES)[number];

const PRICE_SOURCES = ['own', 'list', 'none'] as const;
export type PriceSource = (typeof PRICE_SOURCES)[number];

const USD = { type: 'number', minimum: 0, example: 0.0123456789 };
const STATUS = { type: 'integer', example: 200 };
const DURATION = { type: 'number', minimum: 0, example: 412 };
const ATTEMPT = object({
  upstream_id: ID,
  upstream_name: text('OpenAI'),
  status: orNull(STATUS),
  error: orNull(text('timeout')),
  ms: DURATION,
});
const ATTEMPTS: UsageField<readonly UpstreamAttempt[]> = {
  sqlType: 'json',
  encoding: 'attempts',
  schema: { type: 'array', items: ATTEMPT },
  description:
    'The upstreams that were tried: at most the first 10, with at most 64 characters of their names.',
  isSummed: false,
};

/**
 * The only definition of a usage record. The record's type, journal line, insert statement, API response, OpenAPI schema
 * and CSV columns are derived from it, in its order. Summed fields also become sums of `usage_rollups` and of summaries.
 * A new figure takes a line here, a migration that adds its columns, and its value in the record that the proxy
 * creates.
 */
export const USAGE_FIELDS = {
  /** Random UUID from the replica: with it, writing a record twice is harmless. */
  id: word<string>(text('6b1f0e7c-7a0b-4f5e-9d39-0b5f4d1f2a11'), undefined, 'uuid'),
  /** Letters, digits, `.`, `_` and `-`. */
  request_id: word<string>(text('req-1'), '`X-Request-Id` of the response.'),
  at: word<string>(TIME, 'Arrival of the request.', 'timestamptz'),
  organization_id: id(),
  user_id: freeText(USER_ID),
  key_id: id(),
  upstream_id: idOrNull(
    'The upstream whose response was relayed, otherwise the last one that was tried. Null if none was tried.',
  ),
  upstream_name: freeTextOrNull('OpenAI', 'First 64 characters of the name at the time of the request.'),
  provider: freeTextOrNull('openai'),
  method: freeText(text('POST')),
  path: freeText(text('/v1/chat/completions'), 'Without the query string.'),
  model: freeTextOrNull('gpt-5-mini'),
  stream: flag('Whether the response was an event stream or the request asked for one.'),
  status: integer(STATUS, 'Status of the response to the client; 499 if the client disconnected before it.'),
  outcome: word<UsageOutcome>(
    oneOf(USAGE_OUTCOMES),
    '`client_error`: the request was rejected. `interrupted`: the response ended early, or the stream contained an error.',
  ),
  input_tokens: tokenCount('Includes cached tokens. Token counts are null when unknown.'),
  cached_input_tokens: tokenCount(),
  output_tokens: tokenCount(),
  total_tokens: tokenCount(),
  usage_source: word<UsageSource>(
    oneOf(USAGE_SOURCES),
    'Origin of the token counts. `partial`: the stream ended before the final figures.',
  ),
  latency_ms: duration<number>(DURATION),
  ttft_ms: duration<number | null>(
    orNull(DURATION),
    'Time to the first content of a stream, otherwise to the first byte of the body. Null if nothing arrived.',
  ),
  attempts: ATTEMPTS,
  cache_write_tokens: tokenCount('Part of `input_tokens` that was written to the cache of the provider.'),
  reasoning_tokens: tokenCount('Part of `output_tokens`.'),
  upstream_model: freeTextOrNull('gpt-5-mini', 'Model name sent to the upstream; null if it equals `model`.'),
  cost_usd: money(USD, 'At most 10 decimals. Null when unknown, 0 when nothing was used.'),
  price_source: word<PriceSource>(
    oneOf(PRICE_SOURCES),
    '`own`: prices of the organization. `list`: price list of this version. `none`: unknown, or nothing was used.',
  ),
} satisfies Record<string, UsageField<unknown>>;

type Fields = typeof USAGE_FIELDS;
export type UsageFieldName = keyof Fields;
/** Types of the values of a table of fields. */
export type ValuesOf<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends UsageField<infer T> ? T : never;
};

/** Figures of one request to the proxy. Never contains prompts or responses. */
export type UsageRecord = ValuesOf<Fields>;

/** Request to one upstream on behalf of a client's request. */
export interface UpstreamAttempt {
  readonly upstream_id: number;
  readonly upstream_name: string;
  /** Status of the upstream response; null when there was none. */
  readonly status: number | null;
  /** Reason for not using the response, as one word: `connect`, `timeout`, `reset`, ...; null when it was used. */
  readonly error: string | null;
  readonly ms: number;
}

export const USAGE_FIELD_NAMES = Object.keys(USAGE_FIELDS) as UsageFieldName[];

/** Number of the first fields, which lines in the journal of version 0.2 have. Later fields are appended. */
export const FIRST_FIELDS = USAGE_FIELD_NAMES.indexOf('attempts') + 1;
/** Values of later fields in such lines, as SQL. All others are null. */
export const DEFAULTS: Partial<Record<UsageFieldName, string>> = { price_source: `'none'` };

export type SummedName = {
  [Name in UsageFieldName]: Fields[Name] extends SummedField ? Name : never;
}[UsageFieldName];
/** Sums of records or roll-ups; null where every value is unknown. */
export type UsageSums = Readonly<Record<SummedName, number | null>>;

export const SUMMED_NAMES = USAGE_FIELD_NAMES.filter((name) => USAGE_FIELDS[name].isSummed) as SummedName[];
export const SUMMED_FIELDS = Object.fromEntries(
  SUMMED_NAMES.map((name) => [name, USAGE_FIELDS[name]]),
) as Pick<Fields, SummedName>;

/** Columns that distinguish roll-ups of one organization and one period. */
export const DIMENSIONS = [
  'user_id',
  'key_id',
  'upstream_id',
  'upstream_name',
  'provider',
  'model',
  'status',
] as const satisfies UsageFieldName[];

/** Summed columns of a roll-up. */
export const ROLLUP_SUMS = [
  'requests',
  'errors',
  'priced_requests',
  ...SUMMED_NAMES,
  'latency_ms',
  'ttft_ms',
  'ttft_requests',
] as const;
