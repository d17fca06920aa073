import type { UpstreamAttempt, UsageOutcome, UsageRecord } from '../usage/usage-record.js';
import type { Attempt } from './attempt.js';
import { NOTHING_READ } from './meter.js';
import type { Reading } from './meter.js';
import type { ProxiedRequest } from './proxied-request.js';

/** How a request ended. */
export interface Ending {
  readonly status: number;
  readonly outcome: UsageOutcome;
  /** The one whose answer was passed on, or that was tried last. */
  readonly attempt?: Attempt;
  readonly attempts: readonly Attempt[];
  readonly isStream: boolean;
  readonly reading?: Reading;
  /** When its first content came, as `performance.now()` has it. */
  readonly contentAt?: number;
}

/** Records how a request ended, and then calls `recorded`; nothing where it is recorded already. */
export type Finish = (request: ProxiedRequest, ending: Ending, recorded?: () => void) => void;

/** What is stored at the provider, by the id in its path. `compact` is no id, but makes an answer. */
const STORED = /\/(?:completions|responses|batches|runs)\/(?!compact\/?$)[^/]/;

/**
 * Whether a request makes an answer. To look at one of before, to change or to cancel it takes no tokens, though it is
 * told how many that one took.
 */
export function takesTokens({ method, path }: ProxiedRequest): boolean {
  return method === 'POST' && !STORED.test(path);
}

const PATH_LIMIT = 1_024;
const NO_UPSTREAM = { id: null, name: null, provider: null };

export function usageOf(request: ProxiedRequest, ending: Ending): UsageRecord {
  const { key, fields, beganAt } = request;
  const { reading = NOTHING_READ, contentAt } = ending;
  const { tokens } = reading;
  const upstream = ending.attempt?.target ?? NO_UPSTREAM;
  return {
    id: request.recordId,
    request_id: request.id,
    at: request.arrivedAt,
    organization_id: key.organizationId,
    user_id: key.userId,
    key_id: key.id,
    upstream_id: upstream.id,
    upstream_name: upstream.name,
    provider: upstream.provider,
    method: request.method,
    path: request.path.slice(0, PATH_LIMIT),
    model: fields.model,
    stream: ending.isStream || fields.stream,
    status: ending.status,
    outcome: ending.outcome,
    input_tokens: tokens.input_tokens,
    cached_input_tokens: tokens.cached_input_tokens,
    output_tokens: tokens.output_tokens,
    total_tokens: tokens.total_tokens,
    usage_source: reading.source,
    latency_ms: milliseconds(performance.now() - beganAt),
    ttft_ms: contentAt === undefined ? null : milliseconds(contentAt - beganAt),
    attempts: ending.attempts.map(attemptOf),
  };
}

function attemptOf({ target, status, error, ms }: Attempt): UpstreamAttempt {
  return { upstream_id: target.id, upstream_name: target.name, status, error, ms: milliseconds(ms) };
}

/** To the hundredth: the more values are alike, the more often their text is in the cache of V8. */
function milliseconds(ms: number): number {
  return Math.round(ms * 100) / 100;
}
