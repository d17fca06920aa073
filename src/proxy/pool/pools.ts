import { Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import { Invalidations } from '../../database/invalidation/invalidations.js';
import { LeasedCache } from '../../database/invalidation/leased-cache.js';
import type { AuthenticatedKey } from '../../keys/key-authenticator.js';
import { DatabaseUnavailable } from '../../keys/keys.errors.js';
import { POOL_CHANGED, UpstreamsService } from '../../upstreams/upstreams.service.js';
import type { PoolUpstream } from '../../upstreams/upstreams.service.js';

const MAX_CACHED_POOLS = 10_000;

type Pool = readonly PoolUpstream[];

/**
 * Cached pools of the organizations. While the database is unreachable, stale pools are served as long as stale keys
 * are; see {@link LeasedCache}.
 */
@Injectable()
export class Pools {
  private readonly cache: LeasedCache<number, Pool>;

  constructor(
    private readonly upstreams: UpstreamsService,
    invalidations: Invalidations,
    { keyGraceSeconds }: Settings,
  ) {
    this.cache = new LeasedCache(
      invalidations,
      MAX_CACHED_POOLS,
      keyGraceSeconds * 1_000,
      ({ topic, organizationId }) => (topic === POOL_CHANGED ? (organizationId as number) : undefined),
    );
  }

  /** @returns the pool of the key's owner, in the order of priority @throws DatabaseUnavailable */
  get({ organizationId, isInGrace }: AuthenticatedKey): Pool | Promise<Pool> {
    // A key in grace means that the database has just failed to respond: no second query.
    const pool = isInGrace ? this.cache.getStale(organizationId) : this.cache.getFresh(organizationId);
    return pool ?? this.load(organizationId);
  }

  private async load(organizationId: number): Promise<Pool> {
    try {
      const { value } = await this.cache.read(organizationId, () => this.upstreams.findPool(organizationId));
      return value;
    } catch {
      throw new DatabaseUnavailable();
    }
  }
}
