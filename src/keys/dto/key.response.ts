import {
  EMAIL,
  ID,
  listOf,
  object,
  oneOf,
  orNull,
  Shown,
  text,
  TIME,
  USER_ID,
} from '../../common/members.js';
import { KEY_SOURCES, REVOKED_REASONS } from '../proxy-key.entity.js';
import type { KeyDevice, KeySource, RevokedReason } from '../proxy-key.entity.js';

export class KeyResponse {
  @Shown(ID)
  id: number;

  @Shown(text('laptop'))
  name: string;

  @Shown(ID, 'The one owner whose upstreams the key opens.')
  organization_id: number;

  @Shown(USER_ID, 'The holder.')
  user_id: string;

  @Shown(EMAIL)
  user_email: string;

  @Shown(text('mk_7Hq2'), 'The beginning of the key, to tell it by.')
  prefix: string;

  @Shown(text('x9Qd'))
  last4: string;

  @Shown(oneOf(KEY_SOURCES))
  source: KeySource;

  @Shown(
    orNull(object({ name: orNull(text('mint CLI')), hostname: orNull(text('adas-laptop')) })),
    'What asked for it, as it called itself; null for keys from the dashboard.',
  )
  device: KeyDevice | null;

  @Shown(TIME)
  created_at: string;

  @Shown(orNull(TIME), 'Exact to a minute.')
  last_used_at: string | null;

  @Shown(orNull(TIME))
  expires_at: string | null;

  @Shown(orNull(TIME))
  revoked_at: string | null;

  @Shown(orNull(oneOf(REVOKED_REASONS)))
  revoked_reason: RevokedReason | null;
}

export class KeyListResponse {
  @Shown(listOf(KeyResponse), 'All of them, by id.')
  keys: KeyResponse[];
}

/** The secret is shown here and never again. */
export class NewKeyResponse extends KeyResponse {
  @Shown(text('mk_7Hq2vN0dK5sWb8xTzJ4mRcYfL1gPaE6uQoXi2a0Bc3Dx9Qd'))
  api_key: string;
}
