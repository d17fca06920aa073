import type { KeyDevice, KeySource, RevokedReason } from '../proxy-key.entity.js';

export class KeyResponse {
  id: number;
  name: string;
  /** The one owner whose upstreams the key opens. */
  organization_id: number;
  user_id: string;
  user_email: string;
  /** The beginning of the key, to tell it by. */
  prefix: string;
  last4: string;
  source: KeySource;
  /** What asked for it, as it called itself; null for keys from the dashboard. */
  device: KeyDevice | null;
  /** ISO 8601, UTC, milliseconds. */
  created_at: string;
  /** Exact to a minute. */
  last_used_at: string | null;
  expires_at: string | null;
  revoked_at: string | null;
  revoked_reason: RevokedReason | null;
}

export class KeyListResponse {
  keys: KeyResponse[];
}

/** The secret is shown here and never again. */
export class NewKeyResponse extends KeyResponse {
  api_key: string;
}
