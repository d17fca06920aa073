import { COUNT, FLAG, ID, listOf, oneOf, orNull, Shown, text, TIME } from '../../common/members.js';
import { PROVIDERS } from '../provider.js';
import type { Provider } from '../provider.js';
import type { Upstream } from '../upstream.entity.js';

export class UpstreamResponse {
  @Shown(ID)
  id: number;

  @Shown(text('OpenAI'))
  name: string;

  @Shown(text('https://api.openai.com/v1'))
  base_url: string;

  @Shown(oneOf(PROVIDERS))
  provider: Provider;

  @Shown({ ...COUNT, example: 100 }, 'The lowest is tried first, then the lowest id.')
  priority: number;

  @Shown(FLAG)
  enabled: boolean;

  @Shown(text('f3Xa'), 'The last 4 characters of the API key, which itself is never shown.')
  api_key_hint: string;

  @Shown(TIME)
  created_at: string;

  @Shown(TIME)
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
  @Shown(listOf(UpstreamResponse), 'In the order they are tried.')
  upstreams: UpstreamResponse[];
}

/** What came of asking the upstream for its models. */
export class UpstreamTestResponse {
  @Shown(FLAG, 'Whether it answered with success.')
  ok: boolean;

  @Shown(orNull({ type: 'integer', example: 200 }), 'Of its answer; null when there was none.')
  status: number | null;

  @Shown(
    { ...COUNT, example: 184 },
    'Until the head of the answer, or until it was clear that there is none.',
  )
  latency_ms: number;

  @Shown(text('the upstream answers'), 'For people; nothing in it comes from the upstream.')
  message: string;
}
