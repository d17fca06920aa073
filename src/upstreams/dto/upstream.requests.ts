import { About, Name, OneOf, Optional } from '../../common/body/fields.js';
import type { ModelRule } from '../models/model-rules.js';
import { PROVIDERS } from '../provider.js';
import type { Provider } from '../provider.js';
import { ApiKey, BaseUrl, FailoverStatuses, Flag, ModelRuleList, Priority } from './upstream-fields.js';

const MODELS =
  'Rules for the models that the upstream serves; null for every model. The first rule whose pattern matches the ' +
  'requested model counts. `*` matches any characters. `as` is the name that the upstream gets; its `*` stands for ' +
  'the characters that the only `*` of the pattern matched.';
const FAILOVER =
  'Statuses below 500 that count as a failure of the upstream, so that the next upstream is tried.';

export class CreateUpstreamDto {
  @About('1 to 255 characters after trimming; unique within the owner.', 'OpenAI')
  @Name('invalid_name')
  name: string;

  @About('`http` or `https`, without user info, query and fragment.', 'https://api.openai.com/v1')
  @BaseUrl()
  base_url: string;

  @About('Stored encrypted; no response contains it.', 'sk-your-provider-key')
  @ApiKey()
  api_key: string;

  @About('100 if absent. The upstream with the lowest priority is tried first.', 100)
  @Optional()
  @Priority()
  priority?: number;

  @About('True if absent. A disabled upstream is not tried.', true)
  @Optional()
  @Flag()
  enabled?: boolean;

  @About('Derived from the host if absent.')
  @Optional()
  @OneOf(PROVIDERS, 'invalid_provider')
  provider?: Provider;

  @About(MODELS)
  @Optional()
  @ModelRuleList()
  models?: readonly ModelRule[] | null;

  @About(FAILOVER, [429])
  @Optional()
  @FailoverStatuses()
  failover_on?: readonly number[];
}

/** Members that are absent or null keep their values. */
export class UpdateUpstreamDto {
  @About('1 to 255 characters after trimming; unique within the owner.')
  @Optional()
  @Name('invalid_name')
  name?: string;

  @About('A new scheme, host or port needs a new `api_key`.')
  @Optional()
  @BaseUrl()
  base_url?: string;

  @About('Replaces the stored API key.')
  @Optional()
  @ApiKey()
  api_key?: string;

  @About('The upstream with the lowest priority is tried first.', 10)
  @Optional()
  @Priority()
  priority?: number;

  @About('A disabled upstream is not tried.', false)
  @Optional()
  @Flag()
  enabled?: boolean;

  @About('If absent, a provider that was sent earlier is kept; otherwise it is derived from the host.')
  @Optional()
  @OneOf(PROVIDERS, 'invalid_provider')
  provider?: Provider;

  @About(MODELS)
  @Optional()
  @ModelRuleList()
  models?: readonly ModelRule[] | null;

  @About(FAILOVER, [429])
  @Optional()
  @FailoverStatuses()
  failover_on?: readonly number[];
}
