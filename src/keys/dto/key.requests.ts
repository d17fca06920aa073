import { About, FutureTime, IdField, Name, Optional } from '../../common/fields.js';

/** What is said of minting, whoever's key it is. */
export const OF_MINTING = 'The answer is the only one that ever shows the key. The body may be left out.';

/** A key of the organization that the address names. */
export class MintKeyDto {
  @About('`API key` when left out.', 'laptop')
  @Optional()
  @Name('invalid_name')
  name?: string;

  @About('ISO 8601 with a time zone, in the future; never when left out.', '2099-12-31T23:59:59Z')
  @Optional()
  @FutureTime('invalid_expires_at')
  expires_at?: string;
}

export class MintOwnKeyDto extends MintKeyDto {
  @About('The personal organization when left out.')
  @Optional()
  @IdField()
  organization_id?: number;
}

export class RenameKeyDto {
  @About('1 to 255 characters after trimming.', 'workstation')
  @Optional()
  @Name('invalid_name')
  name?: string;

  @About('May be sent back as it is, but not changed.')
  @Optional()
  @IdField()
  organization_id?: number;
}
