import {
  FLAG,
  ID,
  listOf,
  object,
  oneOf,
  orNull,
  Shown,
  SUM,
  text,
  TIME,
  USER_ID,
} from '../../common/members.js';
import { USAGE_OUTCOMES, USAGE_SOURCES } from '../usage-record.js';
import type { UpstreamAttempt, UsageOutcome, UsageRecord, UsageSource } from '../usage-record.js';

const STATUS = { type: 'integer', example: 200 };
const DURATION = { type: 'number', minimum: 0, example: 412 };
const ATTEMPT = object({
  ...{ upstream_id: ID, upstream_name: text('OpenAI'), status: orNull(STATUS) },
  ...{ error: orNull(text('timeout')), ms: DURATION },
});

/** One request to the proxy. Never holds what was asked or answered. */
export class UsageRequestResponse implements UsageRecord {
  @Shown(text('6b1f0e7c-7a0b-4f5e-9d39-0b5f4d1f2a11'))
  id: string;

  @Shown(text('req-1'), 'What the answer had as `X-Request-Id`.')
  request_id: string;

  @Shown(TIME, 'When it arrived.')
  at: string;

  @Shown(ID)
  organization_id: number;

  @Shown(USER_ID)
  user_id: string;

  @Shown(ID)
  key_id: number;

  @Shown(
    orNull(ID),
    'The upstream whose answer was passed on, otherwise the last one that was tried; null when there was none.',
  )
  upstream_id: number | null;

  @Shown(orNull(text('OpenAI')), 'As it was called then.')
  upstream_name: string | null;

  @Shown(orNull(text('openai')))
  provider: string | null;

  @Shown(text('POST'))
  method: string;

  @Shown(text('/v1/chat/completions'), 'Without the query.')
  path: string;

  @Shown(orNull(text('gpt-5-mini')))
  model: string | null;

  @Shown(FLAG, 'Whether the answer was an event stream, or asked for as one.')
  stream: boolean;

  @Shown(STATUS, 'What the client was answered; 499 when it had left.')
  status: number;

  @Shown(
    oneOf(USAGE_OUTCOMES),
    '`client_error`: it was refused; `interrupted`: the answer broke off, or an error came within the stream.',
  )
  outcome: UsageOutcome;

  @Shown(orNull(SUM), 'With the cached ones; null when unknown, as all counts of tokens.')
  input_tokens: number | null;

  @Shown(orNull(SUM))
  cached_input_tokens: number | null;

  @Shown(orNull(SUM))
  output_tokens: number | null;

  @Shown(orNull(SUM))
  total_tokens: number | null;

  @Shown(
    oneOf(USAGE_SOURCES),
    'Where the tokens are from; `partial`: the stream ended before the final figures.',
  )
  usage_source: UsageSource;

  @Shown(DURATION)
  latency_ms: number;

  @Shown(
    orNull(DURATION),
    'To the first content of a stream, to the first byte of the body otherwise; null when nothing came.',
  )
  ttft_ms: number | null;

  @Shown({ type: 'array', items: ATTEMPT }, 'Every upstream that was tried.')
  attempts: readonly UpstreamAttempt[];
}

export class UsageRequestsResponse {
  @Shown(listOf(UsageRequestResponse), 'Newest first.')
  requests: UsageRequestResponse[];

  @Shown(orNull(text('MjAyNi0wMS0zMQ')), 'Null on the last page.')
  next_cursor: string | null;
}
