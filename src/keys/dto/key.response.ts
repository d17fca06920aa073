import {
  EMAIL,
  ID,
  listOf,
  object,
  oneOf,
  orNull,
  ApiMember,
  text,
  TIME,
  USER_ID,
} from '../../common/api/members.js';
import { KEY_SOURCES, REVOKED_REASONS } from '../proxy-key.entity.js';
import type { KeyDevice, KeySource, RevokedReason } from '../proxy-key.entity.js';

export class KeyResponse {
  @ApiMember(ID)
  id: number;

  @ApiMember(text('laptop'))
  name: string;

  @ApiMember(ID, 'Owner whose upstreams the key gives access to.')
  organization_id: number;

  @ApiMember(USER_ID, 'Holder of the key.')
  user_id: string;

  @ApiMember(EMAIL)
  user_email: string;

  @ApiMember(text('mk_7Hq2'), 'First characters of the key, for recognition.')
  prefix: string;

  @ApiMember(text('x9Qd'))
  last4: string;

  @ApiMember(oneOf(KEY_SOURCES))
  source: KeySource;

  @ApiMember(
    orNull(object({ name: orNull(text('mint CLI')), hostname: orNull(text('adas-laptop')) })),
    'Device that requested the key, with the names that it gave itself; null for keys from the dashboard.',
  )
  device: KeyDevice | null;

  @ApiMember(TIME)
  created_at: string;

  @ApiMember(orNull(TIME), 'Resolution: one minute.')
  last_used_at: string | null;

  @ApiMember(orNull(TIME))
  expires_at: string | null;

  @ApiMember(orNull(TIME))
  revoked_at: string | null;

  @ApiMember(orNull(oneOf(REVOKED_REASONS)))
  revoked_reason: RevokedReason | null;
}

export class KeyListResponse {
  @ApiMember(listOf(KeyResponse), 'Ordered by id.')
  keys: KeyResponse[];
}

/** Response with the secret, which no other response contains. */
export class CreatedKeyResponse extends KeyResponse {
  @ApiMember(text('mk_7Hq2vN0dK5sWb8xTzJ4mRcYfL1gPaE6uQoXi2a0Bc3Dx9Qd'))
  api_key: string;
}
