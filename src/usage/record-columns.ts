import type { UsageRecord } from './usage-record.js';

/** The columns of a record and their types, in the order that they have in its line. */
export const COLUMNS = {
  id: 'uuid',
  at: 'timestamptz',
  request_id: 'text',
  organization_id: 'bigint',
  user_id: 'text',
  key_id: 'bigint',
  upstream_id: 'bigint',
  upstream_name: 'text',
  provider: 'text',
  method: 'text',
  path: 'text',
  model: 'text',
  stream: 'boolean',
  status: 'integer',
  outcome: 'text',
  input_tokens: 'bigint',
  cached_input_tokens: 'bigint',
  output_tokens: 'bigint',
  total_tokens: 'bigint',
  usage_source: 'text',
  latency_ms: 'double precision',
  ttft_ms: 'double precision',
  attempts: 'json',
} satisfies Record<keyof UsageRecord, string>;

export const COLUMN_NAMES = Object.keys(COLUMNS);

/** Those that may hold any text, which is escaped then. Other texts are words of ours, or ids that were checked. */
export const FREE_TEXTS = ['user_id', 'upstream_name', 'provider', 'method', 'path', 'model'];

export const TOKENS = ['input_tokens', 'cached_input_tokens', 'output_tokens', 'total_tokens'];
