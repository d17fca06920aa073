import {
  COUNT,
  FLAG,
  ID,
  listOf,
  object,
  oneOf,
  orNull,
  ApiMember,
  text,
  TIME,
} from '../../common/api/members.js';
import type { ModelRule } from '../models/model-rules.js';
import { PROVIDERS } from '../provider.js';
import type { Provider } from '../provider.js';

export class UpstreamResponse {
  @ApiMember(ID)
  id: number;

  @ApiMember(text('OpenAI'))
  name: string;

  @ApiMember(text('https://api.openai.com/v1'))
  base_url: string;

  @ApiMember(oneOf(PROVIDERS))
  provider: Provider;

  @ApiMember({ ...COUNT, example: 100 }, 'The lowest is tried first; equal priorities are ordered by id.')
  priority: number;

  @ApiMember(FLAG)
  enabled: boolean;

  @ApiMember(
    orNull({
      type: 'array',
      items: object({ model: text('openai/*'), as: orNull(text('*')) }),
      example: [{ model: 'openai/*', as: '*' }],
    }),
    'Models that the upstream serves, as rules; null for every model.',
  )
  models: readonly ModelRule[] | null;

  @ApiMember(
    { type: 'array', items: { type: 'integer' }, example: [429] },
    'Statuses below 500 that lead to the next upstream.',
  )
  failover_on: readonly number[];

  @ApiMember(text('f3Xa'), 'Last 4 characters of the API key, which is never shown.')
  api_key_hint: string;

  @ApiMember(TIME)
  created_at: string;

  @ApiMember(TIME)
  updated_at: string;
}

export class UpstreamListResponse {
  @ApiMember(listOf(UpstreamResponse), 'In the order in which they are tried.')
  upstreams: UpstreamResponse[];
}

/** Result of a request for the model list of an upstream. */
export class UpstreamCheckResponse {
  @ApiMember(FLAG, 'Whether the response has a status from 200 to 299.')
  ok: boolean;

  @ApiMember(orNull({ type: 'integer', example: 200 }), 'Status of the response; null if there was none.')
  status: number | null;

  @ApiMember({ ...COUNT, example: 184 }, 'Time until the response headers or until the failure.')
  latency_ms: number;

  @ApiMember(text('the upstream works'), 'Text for people. Contains nothing that the upstream sent.')
  message: string;
}
