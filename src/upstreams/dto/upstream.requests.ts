import { About, Name, OneOf, Optional } from '../../common/api/fields.js';
import { PROVIDERS } from '../provider.js';
import type { Provider } from '../provider.js';
import { ApiKey, BaseUrl, Flag, Priority } from './upstream-fields.js';

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
}
