import { FutureTime, IdField, Name, Optional } from '../../common/fields.js';

/** A key of the organization that the address names. */
export class MintKeyDto {
  @Optional()
  @Name('invalid_name')
  name?: string;

  /** ISO 8601 with a time zone, in the future; never when left out. */
  @Optional()
  @FutureTime('invalid_expires_at')
  expires_at?: string;
}

export class MintOwnKeyDto extends MintKeyDto {
  /** The personal organization when left out. */
  @Optional()
  @IdField()
  organization_id?: number;
}

export class RenameKeyDto {
  @Optional()
  @Name('invalid_name')
  name?: string;

  /** May be sent back as it is, but not changed. */
  @Optional()
  @IdField()
  organization_id?: number;
}
