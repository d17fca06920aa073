import { About, FutureTime, IdField, Name, Optional } from '../../common/body/fields.js';
import { LimitSetField } from '../../limits/dto/limits.dto.js';
import type { LimitSet } from '../../limits/rules/limit-set.js';

/** Description of all operations that mint a key. */
export const MINT_DESCRIPTION = 'No other response ever shows the key. The body is optional.';

/** New key of the organization in the path. */
export class MintKeyDto {
  @About('`API key` if absent.', 'laptop')
  @Optional()
  @Name('invalid_name')
  name?: string;

  @About('ISO 8601 with a time zone, in the future. The key never expires if absent.', '2099-12-31T23:59:59Z')
  @Optional()
  @FutureTime('invalid_expires_at')
  expires_at?: string;

  @About('Limits of this key alone, in addition to those of its organization. No limits if absent.')
  @Optional()
  @LimitSetField()
  limits?: LimitSet;
}

export class MintOwnKeyDto extends MintKeyDto {
  @About('The personal organization if absent.')
  @Optional()
  @IdField()
  organization_id?: number;
}

export class RenameKeyDto {
  @About('1 to 255 characters after trimming.', 'workstation')
  @Optional()
  @Name('invalid_name')
  name?: string;

  @About('Cannot be changed; only the current organization is accepted.')
  @Optional()
  @IdField()
  organization_id?: number;
}
