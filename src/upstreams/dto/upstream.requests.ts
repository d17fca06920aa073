import { Name, OneOf, Optional } from '../../common/fields.js';
import { PROVIDERS } from '../provider.js';
import type { Provider } from '../provider.js';
import { ApiKey, BaseUrl, Flag, Priority } from './upstream-fields.js';

export class CreateUpstreamDto {
  /** 1 to 255 characters after trimming; unique within the owner. */
  @Name('invalid_name')
  name: string;

  /** `http` or `https`, without user info, query and fragment. */
  @BaseUrl()
  base_url: string;

  /** Write-only: stored encrypted, never answered with. */
  @ApiKey()
  api_key: string;

  /** 0 to 1,000,000, 100 when left out; the lowest is tried first. */
  @Optional()
  @Priority()
  priority?: number;

  @Optional()
  @Flag()
  enabled?: boolean;

  /** Told by the host when left out. */
  @Optional()
  @OneOf(PROVIDERS, 'invalid_provider')
  provider?: Provider;
}

/** What is left out or null stays as it is. */
export class UpdateUpstreamDto {
  @Optional()
  @Name('invalid_name')
  name?: string;

  /** A new scheme, host or port needs a new `api_key`. */
  @Optional()
  @BaseUrl()
  base_url?: string;

  @Optional()
  @ApiKey()
  api_key?: string;

  @Optional()
  @Priority()
  priority?: number;

  @Optional()
  @Flag()
  enabled?: boolean;

  /** When left out and told by the host so far, it follows the host. */
  @Optional()
  @OneOf(PROVIDERS, 'invalid_provider')
  provider?: Provider;
}
