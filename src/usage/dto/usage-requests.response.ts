import type { UpstreamAttempt, UsageOutcome, UsageRecord, UsageSource } from '../usage-record.js';

/** One request to the proxy. Never holds what was asked or answered. */
export class UsageRequestResponse implements UsageRecord {
  id: string;
  request_id: string;
  /** When it arrived; ISO 8601, UTC, milliseconds. */
  at: string;
  organization_id: number;
  user_id: string;
  key_id: number;
  /** The upstream whose answer was passed on, otherwise the last one that was tried; null when there was none. */
  upstream_id: number | null;
  /** As it was called then. */
  upstream_name: string | null;
  provider: string | null;
  method: string;
  /** Without the query. */
  path: string;
  model: string | null;
  stream: boolean;
  /** What the client was answered; 499 when it had left. */
  status: number;
  outcome: UsageOutcome;
  /** With the cached ones; null when unknown, as all counts of tokens. */
  input_tokens: number | null;
  cached_input_tokens: number | null;
  output_tokens: number | null;
  total_tokens: number | null;
  usage_source: UsageSource;
  latency_ms: number;
  /** Null when nothing came. */
  ttft_ms: number | null;
  /** Every upstream that was tried. */
  attempts: readonly UpstreamAttempt[];
}

export class UsageRequestsResponse {
  /** Newest first. */
  requests: UsageRequestResponse[];
  /** Null on the last page. */
  next_cursor: string | null;
}
