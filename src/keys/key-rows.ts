import { KEYS_MAX } from './keys.errors.js';

/** Filter for the keys that a caller may see and revoke: keys of a user, of an organization, or of a user in one. */
export interface KeyFilter {
  readonly userId?: string;
  readonly organizationId?: number;
}

const COLUMNS = `
  k.id, k.name, k.organization_id, k.user_id, u.email AS user_email, k.prefix, k.last4, k.source, k.device,
  k.created_at, k.last_used_at, k.expires_at, k.revoked_at, k.revoked_reason`;

/** Selects the {@link KeyResponse} of a key by its id ($1). */
export const SELECT_KEY = `SELECT ${COLUMNS} FROM proxy_keys k JOIN users u ON u.id = k.user_id WHERE k.id = $1`;

/** Maximum number of revoked keys in a list, and of expired keys. */
export const INACTIVE_MAX = 1_000;

const IS_UNREVOKED = 'k.revoked_at IS NULL';
/** Two ranges of an index on the expiry. PostgreSQL would read all expired keys for one condition with OR. */
const HAS_NOT_EXPIRED = ['k.expires_at IS NULL', 'k.expires_at > now()'].map(
  (expiry) => `${IS_UNREVOKED} AND ${expiry}`,
);

/**
 * Selects keys (`k`) that are neither revoked nor expired, for a count up to `max`. The order is that of an index:
 * without it, PostgreSQL may read the whole table, because it expects many more of these keys.
 */
export function liveKeys(condition: string, max: number): string {
  return HAS_NOT_EXPIRED.map(
    (live) =>
      `(SELECT FROM proxy_keys k WHERE ${condition} AND ${live} ORDER BY k.expires_at DESC LIMIT ${max})`,
  ).join(' UNION ALL ');
}

/**
 * Creates the statement of a key list, ordered by id. It contains the live keys up to their cap, the keys that expired
 * last and, on request, the keys that were revoked last. Each part is read from the end of an index.
 */
export function listStatement(
  { userId, organizationId }: KeyFilter,
  includeRevoked: boolean,
): [text: string, values: unknown[]] {
  const columns = { 'k.user_id': userId, 'k.organization_id': organizationId };
  const conditions = Object.entries(columns).filter(([, value]) => value !== undefined);
  const filter = conditions.map(([column], i) => `${column} = $${i + 1}`).join(' AND ');
  const last = (max: number, condition: string, time: string) =>
    `(SELECT k.* FROM proxy_keys k WHERE ${filter} AND ${condition} ORDER BY ${time} DESC, k.id DESC LIMIT ${max})`;
  const liveMax = liveMaxOf({ userId, organizationId });
  const parts = [
    ...HAS_NOT_EXPIRED.map((condition) => last(liveMax, condition, 'k.expires_at')),
    last(INACTIVE_MAX, `${IS_UNREVOKED} AND k.expires_at <= now()`, 'k.expires_at'),
    ...(includeRevoked ? [last(INACTIVE_MAX, 'k.revoked_at IS NOT NULL', 'k.revoked_at')] : []),
  ];
  const text = `SELECT ${COLUMNS} FROM (${parts.join(' UNION ALL ')}) AS k JOIN users u ON u.id = k.user_id ORDER BY k.id`;
  return [text, conditions.map(([, value]) => value)];
}

function liveMaxOf({ userId, organizationId }: KeyFilter): number {
  if (userId === undefined) return KEYS_MAX.ofOrganization;
  return organizationId === undefined ? KEYS_MAX.ofUser : KEYS_MAX.ofUserInOrganization;
}
