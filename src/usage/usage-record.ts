export const USAGE_OUTCOMES = [
  ...(['ok', 'client_error', 'upstream_error'] as const),
  ...(['client_gone', 'interrupted', 'no_upstream'] as const),
];
export type UsageOutcome = (typeof USAGE_OUTCOMES)[number];

/** Where the tokens are from: the provider's final figures, figures of a stream that ended before, or nowhere. */
export const USAGE_SOURCES = ['provider', 'partial', 'none'] as const;
export type UsageSource = (typeof USAGE_SOURCES)[number];

/** One upstream that was tried. */
export interface UpstreamAttempt {
  readonly upstream_id: number;
  readonly upstream_name: string;
  /** Of the upstream's answer; null when none came. */
  readonly status: number | null;
  /** Why the answer was not used, as one word: `connect`, `timeout`, `reset`, ...; null when it was. */
  readonly error: string | null;
  readonly ms: number;
}

/** What one request to the proxy used. Never holds what was asked or answered. */
export interface UsageRecord {
  /** A random UUID, given by the replica: what makes writing a record twice harmless. */
  readonly id: string;
  /** As it is in `X-Request-Id`: letters, digits, `.`, `_` and `-`. */
  readonly request_id: string;
  /** When the request arrived; ISO 8601. */
  readonly at: string;
  readonly organization_id: number;
  readonly user_id: string;
  readonly key_id: number;
  /** The upstream whose answer was passed on, otherwise the last one that was tried; null when there was none. */
  readonly upstream_id: number | null;
  readonly upstream_name: string | null;
  readonly provider: string | null;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly model: string | null;
  /** Whether the answer was an event stream, or asked for as one. */
  readonly stream: boolean;
  /** What the client was answered; 499 when it had left. */
  readonly status: number;
  readonly outcome: UsageOutcome;
  /** With the cached ones. */
  readonly input_tokens: number | null;
  readonly cached_input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly total_tokens: number | null;
  readonly usage_source: UsageSource;
  readonly latency_ms: number;
  /** To the first content of a stream, to the first byte of the body otherwise; null when none came. */
  readonly ttft_ms: number | null;
  readonly attempts: readonly UpstreamAttempt[];
}
