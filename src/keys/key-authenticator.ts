import { Injectable } from '@nestjs/common';
import type { OnModuleInit } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { tokenHash } from '../common/secret-token.js';
import { detached } from '../common/text.js';
import { Settings } from '../config/settings.js';
import { Invalidations } from '../database/invalidations.js';
import type { Invalidation } from '../database/invalidations.js';
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

/** A key and what was known when it was loaded. */
interface CachedKey {
  readonly key: AuthenticatedKey;
  readonly epoch: number;
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
 * Tells whose key a secret is, from memory wherever that may be believed.
 *
 * A cached key is believed while this replica holds a lease ({@link Invalidations}); what is revoked is forgotten
 * before the revocation is answered. A key that is being loaded while anything is revoked is used for the request
 * that asked, which began before the revocation was answered, but not kept. While the database cannot be
 * reached, keys verified before are served for `KEY_GRACE_SECONDS` after it was last heard of. Every request asks
 * anew then: what is revoked once the database is back is served to none that comes after.
 */
@Injectable()
export class KeyAuthenticator implements OnModuleInit {
  /** By secret, as it came: to hash it again for every request costs more than all the rest. */
  private readonly cache = new LRUCache<string, CachedKey>({ max: CACHED_KEYS });
  /** Counts revocations: a load during which it changes is not kept. */
  private generation = 0;
  /** Counts gaps in what this replica has heard: keys from before a gap are for the grace period only. */
  private epoch = 0;
  private databaseSeenAt = performance.now();

  constructor(
    private readonly queries: UrgentQueries,
    private readonly invalidations: Invalidations,
    private readonly usage: KeyUsage,
    private readonly settings: Settings,
  ) {}

  onModuleInit(): void {
    this.invalidations.on(
      (invalidation) => this.forget(invalidation),
      () => this.epoch++,
    );
  }

  /**
   * The key with this secret; undefined when it is unknown, revoked or expired.
   * @throws DatabaseUnavailable
   */
  authenticate(secret: string): AuthenticatedKey | undefined | Promise<AuthenticatedKey | undefined> {
    const cached = this.cache.get(secret);
    if (cached?.epoch === this.epoch && this.invalidations.leased) return this.accept(cached.key);
    return isKeySecret(secret) ? this.load(secret) : undefined;
  }

  private async load(secret: string): Promise<AuthenticatedKey | undefined> {
    const { generation, epoch } = this;
    let row: Row | undefined;
    try {
      row = await this.find(secret);
    } catch {
      return this.accept(this.knownInGrace(secret));
    }
    this.databaseSeenAt = performance.now();
    const key = row && toKey(row);
    if (!key) this.cache.delete(secret);
    else if (generation === this.generation) this.cache.set(detached(secret), { key, epoch });
    return this.accept(key);
  }

  /** Once more where the database can be reached all the same: a connection may be one from before. */
  private async find(secret: string): Promise<Row | undefined> {
    const ask = () => this.queries.rows<Row>(FIND, [tokenHash(secret)]);
    const [row] = await ask().catch((error: unknown) => {
      if (!this.invalidations.leased) throw error;
      return ask();
    });
    return row;
  }

  /** @throws DatabaseUnavailable */
  private knownInGrace(secret: string): AuthenticatedKey {
    const known = this.cache.peek(secret)?.key;
    const silentMs = performance.now() - Math.max(this.databaseSeenAt, this.invalidations.heardAt);
    const isOver = this.invalidations.leased || silentMs > this.settings.keyGraceSeconds * 1_000;
    if (!known || isOver) throw new DatabaseUnavailable();
    return { ...known, isInGrace: true };
  }

  private accept(key: AuthenticatedKey | undefined): AuthenticatedKey | undefined {
    if (!key || (key.expiresAt !== null && key.expiresAt <= Date.now())) return undefined;
    this.usage.note(key.id);
    return key;
  }

  private forget({ topic, id, organizationId, userId }: Invalidation): void {
    if (topic !== KEYS_REVOKED) return;
    this.generation++;
    for (const [secret, { key }] of this.cache.entries()) {
      const revoked =
        key.id === id ||
        (key.organizationId === organizationId && (userId === undefined || key.userId === userId));
      if (revoked) this.cache.delete(secret);
    }
  }
}

function toKey({ id, organization_id, user_id, expires_at }: Row): AuthenticatedKey {
  const expiresAt = expires_at === null ? null : Date.parse(expires_at);
  return { id, organizationId: organization_id, userId: user_id, expiresAt, isInGrace: false };
}
