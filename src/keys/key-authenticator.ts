import { Injectable } from '@nestjs/common';
import { tokenHash } from '../common/crypto/secret-token.js';
import { detach } from '../common/text/text.js';
import { Settings } from '../config/settings.js';
import { Invalidations } from '../database/invalidation/invalidations.js';
import type { Invalidation } from '../database/invalidation/replica-listener.js';
import { LeasedCache } from '../database/invalidation/leased-cache.js';
import { UrgentQueries } from '../database/connection/urgent-queries.js';
import { applyLimits, nextLimitsVersion } from '../limits/rules/applied-limits.js';
import type { AppliedLimits, LimitTexts } from '../limits/rules/applied-limits.js';
import { LIMITS_CHANGED } from '../limits/limits.service.js';
import { isKeySecret } from './key-format.js';
import { KeyUsage } from './key-usage.js';
import { DatabaseUnavailable } from './keys.errors.js';
import { KEYS_REVOKED } from './keys.service.js';

const CACHED_KEYS = 50_000;

/** Verified key, whose holder may use the upstreams of the owner. */
export interface AuthenticatedKey {
  readonly id: number;
  readonly organizationId: number;
  readonly userId: string;
  /** Unix time in milliseconds. */
  readonly expiresAt: number | null;
  /** Limits of the key, its holder and its organization; undefined if nothing is limited. */
  readonly limits: AppliedLimits | undefined;
  /** Whether the database was unreachable and the key was verified earlier. */
  readonly isInGrace: boolean;
}

/** Finds a key only while its holder is a member. The user of a personal organization is its member, too. */
const FIND = {
  name: 'keys.authenticate',
  text: `
    SELECT k.id, k.organization_id, k.user_id, k.expires_at, k.limits::text AS key,
      l.organization::text AS organization, l.member::text AS member
    FROM proxy_keys k JOIN memberships m ON m.organization_id = k.organization_id AND m.user_id = k.user_id
      LEFT JOIN organization_limits l ON l.organization_id = k.organization_id
    WHERE k.secret_sha256 = $1 AND k.revoked_at IS NULL`,
};

interface Row extends LimitTexts {
  id: number;
  organization_id: number;
  user_id: string;
  expires_at: string | null;
}

/**
 * Finds the key of a secret, from a {@link LeasedCache} if its entry is fresh. A revocation removes the entry on all
 * replicas before its response is sent. A key whose load overlaps a revocation serves the current request, which began
 * before that response, but is not cached.
 *
 * While the database is unreachable, verified keys stay valid for `KEY_GRACE_SECONDS` after the last contact. Every
 * request still tries the database first, so that a revocation takes effect as soon as the database is back.
 */
@Injectable()
export class KeyAuthenticator {
  /** Keys by their plain secret: hashing the secret of every request would cost more than the rest of the lookup. */
  private readonly cache: LeasedCache<string, AuthenticatedKey>;

  constructor(
    private readonly queries: UrgentQueries,
    private readonly invalidations: Invalidations,
    private readonly usage: KeyUsage,
    { keyGraceSeconds }: Settings,
  ) {
    this.cache = new LeasedCache(invalidations, CACHED_KEYS, keyGraceSeconds * 1_000, affected);
  }

  /**
   * Finds the key with this secret; undefined if the key is unknown, revoked or expired.
   * @throws DatabaseUnavailable
   */
  authenticate(secret: string): AuthenticatedKey | undefined | Promise<AuthenticatedKey | undefined> {
    const key = this.cache.getFresh(secret);
    if (key) return this.accept(key);
    return isKeySecret(secret) ? this.load(secret) : undefined;
  }

  /** Counter that increases when any key may have been revoked. */
  get version(): number {
    return this.cache.changes;
  }

  /**
   * Whether a verified key is certainly still valid, without a query. If not, {@link authenticate} decides.
   * @param version {@link version} before the verification of the key
   */
  isStillValid(key: AuthenticatedKey, version: number): boolean {
    if (version !== this.version || isExpired(key)) return false;
    return key.isInGrace || this.invalidations.hasLease;
  }

  private async load(secret: string): Promise<AuthenticatedKey | undefined> {
    try {
      const { value: key, isStale: isInGrace } = await this.cache.read(detach(secret), () =>
        this.read(secret),
      );
      return this.accept(key && isInGrace ? { ...key, isInGrace } : key);
    } catch {
      throw new DatabaseUnavailable();
    }
  }

  private async read(secret: string): Promise<AuthenticatedKey | undefined> {
    const version = nextLimitsVersion();
    const [row] = await this.queries.rows<Row>(FIND, [tokenHash(secret)]);
    return row && toKey(row, version);
  }

  private accept(key: AuthenticatedKey | undefined): AuthenticatedKey | undefined {
    if (!key || isExpired(key)) return undefined;
    this.usage.recordUse(key.id);
    return key;
  }
}

/** Matches the cached keys that an invalidation revokes, or whose limits it changes. */
function affected({ topic, id, organizationId, userId }: Invalidation) {
  if (topic !== KEYS_REVOKED && topic !== LIMITS_CHANGED) return undefined;
  return (_: string, key: AuthenticatedKey) =>
    key.id === id ||
    (key.organizationId === organizationId && (userId === undefined || key.userId === userId));
}

function isExpired({ expiresAt }: AuthenticatedKey): boolean {
  return expiresAt !== null && expiresAt <= Date.now();
}

function toKey(
  { id, organization_id, user_id, expires_at, ...texts }: Row,
  limitsVersion: number,
): AuthenticatedKey {
  const expiresAt = expires_at === null ? null : Date.parse(expires_at);
  const key = { id, organizationId: organization_id, userId: user_id };
  return { ...key, expiresAt, limits: applyLimits(key, texts, limitsVersion), isInGrace: false };
}
