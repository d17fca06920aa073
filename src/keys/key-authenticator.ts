import { Injectable } from '@nestjs/common';
import { tokenHash } from '../common/secret-token.js';
import { detached } from '../common/text.js';
import { Settings } from '../config/settings.js';
import { Invalidations } from '../database/invalidations.js';
import type { Invalidation } from '../database/invalidations.js';
import { LeasedCache } from '../database/leased-cache.js';
import { UrgentQueries } from '../database/urgent-queries.js';
import { isKeySecret } from './key-format.js';
import { KeyUsage } from './key-usage.js';
import { DatabaseUnavailable } from './keys.errors.js';
import { KEYS_REVOKED } from './keys.service.js';

const CACHED_KEYS = 50_000;

/** A key whose holder may stand in for the owner at the proxy. */
export interface AuthenticatedKey {
  readonly id: number;
  readonly organizationId: number;
  readonly userId: string;
  /** Unix time in milliseconds. */
  readonly expiresAt: number | null;
  /** Whether the database could not be asked just now, and the key is one that was verified before. */
  readonly isInGrace: boolean;
}

/** A team's key works only while its holder is a member. Personal organizations have their user as a member, too. */
const FIND = {
  name: 'keys.authenticate',
  text: `
    SELECT k.id, k.organization_id, k.user_id, k.expires_at
    FROM proxy_keys k JOIN memberships m ON m.organization_id = k.organization_id AND m.user_id = k.user_id
    WHERE k.secret_sha256 = $1 AND k.revoked_at IS NULL`,
};

interface Row {
  id: number;
  organization_id: number;
  user_id: string;
  expires_at: string | null;
}

/**
 * Tells whose key a secret is, from memory wherever that may be believed ({@link LeasedCache}): what is revoked is
 * forgotten before the revocation is answered. A key that is being loaded while anything is revoked is used for the
 * request that asked, which began before the revocation was answered, but not kept. While the database cannot be
 * reached, keys verified before are served for `KEY_GRACE_SECONDS` after it was last heard of. Every request asks
 * anew then: what is revoked once the database is back is served to none that comes after.
 */
@Injectable()
export class KeyAuthenticator {
  /** By secret, as it came: to hash it again for every request costs more than all the rest. */
  private readonly cache: LeasedCache<string, AuthenticatedKey>;

  constructor(
    private readonly queries: UrgentQueries,
    invalidations: Invalidations,
    private readonly usage: KeyUsage,
    { keyGraceSeconds }: Settings,
  ) {
    this.cache = new LeasedCache(invalidations, CACHED_KEYS, keyGraceSeconds * 1_000, revoked);
  }

  /**
   * The key with this secret; undefined when it is unknown, revoked or expired.
   * @throws DatabaseUnavailable
   */
  authenticate(secret: string): AuthenticatedKey | undefined | Promise<AuthenticatedKey | undefined> {
    const key = this.cache.believed(secret);
    if (key) return this.accept(key);
    return isKeySecret(secret) ? this.load(secret) : undefined;
  }

  private async load(secret: string): Promise<AuthenticatedKey | undefined> {
    try {
      const { value: key, isInGrace } = await this.cache.ask(detached(secret), () => this.read(secret));
      return this.accept(key && isInGrace ? { ...key, isInGrace } : key);
    } catch {
      throw new DatabaseUnavailable();
    }
  }

  private async read(secret: string): Promise<AuthenticatedKey | undefined> {
    const [row] = await this.queries.rows<Row>(FIND, [tokenHash(secret)]);
    return row && toKey(row);
  }

  private accept(key: AuthenticatedKey | undefined): AuthenticatedKey | undefined {
    if (!key || (key.expiresAt !== null && key.expiresAt <= Date.now())) return undefined;
    this.usage.note(key.id);
    return key;
  }
}

/** Which keys an invalidation is about. */
function revoked({ topic, id, organizationId, userId }: Invalidation) {
  if (topic !== KEYS_REVOKED) return undefined;
  return (_: string, key: AuthenticatedKey) =>
    key.id === id ||
    (key.organizationId === organizationId && (userId === undefined || key.userId === userId));
}

function toKey({ id, organization_id, user_id, expires_at }: Row): AuthenticatedKey {
  const expiresAt = expires_at === null ? null : Date.parse(expires_at);
  return { id, organizationId: organization_id, userId: user_id, expiresAt, isInGrace: false };
}
