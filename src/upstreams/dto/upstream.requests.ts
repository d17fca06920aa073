import { About, Name, OneOf, Optional } from '../../common/fields.js';
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

  @About('Stored encrypted, never answered with.', 'sk-your-key-of-the-provider')
  @ApiKey()
  api_key: string;

  @About('100 when left out; the lowest is tried first.', 100)
  @Optional()
  @Priority()
  priority?: number;

  @About('True when left out. A disabled upstream is not tried.', true)
  @Optional()
  @Flag()
  enabled?: boolean;

  @About('Told by the host when left out.')
  @Optional()
  @OneOf(PROVIDERS, 'invalid_provider')
  provider?: Provider;
}

/** What is left out or null stays as it is. */
export class UpdateUpstreamDto {
  @About('1 to 255 characters after trimming; unique within the owner.')
  @Optional()
  @Name('invalid_name')
  name?: string;

  @About('A new scheme, host or port needs a new `api_key`.')
  @Optional()
  @BaseUrl()
  base_url?: string;

  @About('Replaces the one that is stored.')
  @Optional()
  @ApiKey()
  api_key?: string;

  @About('The lowest is tried first.', 10)
  @Optional()
  @Priority()
  priority?: number;

  @About('A disabled upstream is not tried.', false)
  @Optional()
  @Flag()
  enabled?: boolean;

  @About('When left out, it stays as it is, or follows the host if it was never sent.')
  @Optional()
  @OneOf(PROVIDERS, 'invalid_provider')
  provider?: Provider;
}
