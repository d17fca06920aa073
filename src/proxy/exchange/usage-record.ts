import { firstCodePoints } from '../../common/text/text.js';
import { NO_COST, requestCost } from '../../prices/request-cost.js';
import type { RequestCost } from '../../prices/request-cost.js';
import type { UpstreamAttempt, UsageOutcome, UsageRecord } from '../../usage/record/usage-record.js';
import type { AttemptResult } from './attempt-result.js';
import { NO_USAGE } from '../metering/meter.js';
import type { MeteredUsage } from '../metering/meter.js';
import type { TokenCounts } from '../metering/token-counts.js';
import { generatesNothing } from '../request/model/generates-nothing.js';
import type { ProxiedRequest } from '../request/proxied-request.js';
import { recordedModel } from '../request/model/request-fields.js';

const PATH_LIMIT = 1_024;
/**
 * Limits the size of a record. A page has 200 records: with every attempt of a large pool and full names, one page
 * would take hundreds of megabytes.
 */
export const MAX_ATTEMPTS = 10;
export const NAME_CODE_POINTS = 64;
const NO_UPSTREAM = { id: null, name: null, provider: null, upstreamModel: null };
/** Failures before an upstream could begin to work. */
const NEVER_BEGAN: readonly (string | null)[] = ['dns', 'connect', 'refused', 'tls'];

export function toUsageRecord(request: ProxiedRequest, result: ExchangeResult): UsageRecord {
  const { key, fields, beganAt } = request;
  const { usage = NO_USAGE, firstContentAt } = result;
  const { tokens, source } = usage;
  const upstream = result.attempt?.target ?? NO_UPSTREAM;
  const cost = result.countedCost ?? costOfResult(request, result, tokens);
  return {
    id: request.createRecordId(),
    request_id: request.id,
    at: request.arrivedAt,
    organization_id: key.organizationId,
    user_id: key.userId,
    key_id: key.id,
    upstream_id: upstream.id,
    upstream_name: upstream.name === null ? null : firstCodePoints(upstream.name, NAME_CODE_POINTS),
    provider: upstream.provider,
    method: request.method,
    path: request.path.slice(0, PATH_LIMIT),
    model: fields.model,
    stream: result.isStream || fields.stream,
    status: result.status,
    outcome: result.outcome,
    input_tokens: tokens.input_tokens,
    cached_input_tokens: tokens.cached_input_tokens,
    output_tokens: tokens.output_tokens,
    total_tokens: tokens.total_tokens,
    usage_source: source,
    latency_ms: roundMilliseconds(performance.now() - beganAt),
    ttft_ms: firstContentAt === undefined ? null : roundMilliseconds(firstContentAt - beganAt),
    attempts: result.attempts.slice(0, MAX_ATTEMPTS).map(toUpstreamAttempt),
    cache_write_tokens: tokens.cache_write_tokens,
    reasoning_tokens: tokens.reasoning_tokens,
    upstream_model: upstream.upstreamModel === null ? null : recordedModel({ name: upstream.upstreamModel }),
    cost_usd: cost.usd,
    price_source: cost.source,
  };
}

/** Cost of a request: 0 if no upstream can have charged for it, unknown if one may have without telling how much. */
function costOfResult(request: ProxiedRequest, result: ExchangeResult, tokens: TokenCounts): RequestCost {
  const { attempt, attempts, outcome } = result;
  const isRejected = outcome === 'client_error' || outcome === 'no_upstream';
  if (!attempt || isRejected || isFreeOfCharge(request)) return NO_COST;
  if (attempts.every(({ error }) => NEVER_BEGAN.includes(error))) return NO_COST;
  const { upstreamModel, id: upstreamId, provider } = attempt.target;
  const name = upstreamModel ?? request.fields.requestedModel?.name ?? null;
  return requestCost(tokens, { name, upstreamId, provider, timeMs: request.arrivedAtMs }, request.prices);
}

/** Whether the request generates no output. Providers do not charge for counting tokens. */
function isFreeOfCharge(request: ProxiedRequest): boolean {
  return !generatesOutput(request) || generatesNothing(request) || COUNTS_TOKENS.test(request.path);
}

function toUpstreamAttempt({ target, status, error, durationMs }: AttemptResult): UpstreamAttempt {
  const name = firstCodePoints(target.name, NAME_CODE_POINTS);
  return { upstream_id: target.id, upstream_name: name, status, error, ms: roundMilliseconds(durationMs) };
}

/** Rounds to hundredths: V8 caches the text of equal numbers, so that fewer distinct values are formatted faster. */
function roundMilliseconds(ms: number): number {
  return Math.round(ms * 100) / 100;
}

/** Result of one proxied request. */
export interface ExchangeResult {
  readonly status: number;
  readonly outcome: UsageOutcome;
  /** Attempt whose response was relayed, or the last one. */
  readonly attempt?: AttemptResult;
  readonly attempts: readonly AttemptResult[];
  readonly isStream: boolean;
  readonly usage?: MeteredUsage;
  /** Arrival of the first content, by `performance.now()`. */
  readonly firstContentAt?: number;
  /** Cost of the responses of a WebSocket, which count for the limits one by one. */
  readonly countedCost?: RequestCost;
}

/** Records the result of a request once, and then calls `onRecorded`. A second call for a request does nothing. */
export type RecordResult = (request: ProxiedRequest, result: ExchangeResult, onRecorded?: () => void) => void;

const COUNTS_TOKENS = /\/count_tokens\/?$/;
/** Paths of objects that the provider stores. `compact` in the place of an id generates output. */
const STORED_OBJECT = /\/(?:completions|responses|batches|runs)\/(?!compact\/?$)[^/]/;

/**
 * Whether the request generates output. Reading, changing or cancelling a stored object repeats that object's usage,
 * which must not be counted again.
 */
export function generatesOutput({ method, path }: ProxiedRequest): boolean {
  return method === 'POST' && !STORED_OBJECT.test(path);
}
