import type { Provider } from '../provider.js';
import type { Upstream } from '../upstream.entity.js';

export class UpstreamResponse {
  id: number;
  name: string;
  base_url: string;
  provider: Provider;
  /** The lowest is tried first, then the lowest id. */
  priority: number;
  enabled: boolean;
  /** The last 4 characters of the API key, which itself is never shown. */
  api_key_hint: string;
  /** ISO 8601, UTC, milliseconds. */
  created_at: string;
  updated_at: string;

  static from(upstream: Upstream): UpstreamResponse {
    const { id, name, baseUrl, provider, priority, enabled, apiKeyHint, createdAt, updatedAt } = upstream;
    return {
      id,
      name,
      base_url: baseUrl,
      provider,
      priority,
      enabled,
      api_key_hint: apiKeyHint,
      created_at: createdAt,
      updated_at: updatedAt,
    };
  }
}

export class UpstreamListResponse {
  upstreams: UpstreamResponse[];
}

/** What came of asking the upstream for its models. */
export class UpstreamTestResponse {
  /** Whether it answered with success. */
  ok: boolean;
  /** Of its answer; null when there was none. */
  status: number | null;
  /** Until the head of the answer, or until it was clear that there is none. */
  latency_ms: number;
  /** For people; nothing in it comes from the upstream. */
  message: string;
}
