import { Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import { Invalidations } from '../../database/invalidation/invalidations.js';
import { LeasedCache } from '../../database/invalidation/leased-cache.js';
import type { AuthenticatedKey } from '../../keys/key-authenticator.js';
import { DatabaseUnavailable } from '../../keys/keys.errors.js';
import { POOL_CHANGED, UpstreamsService } from '../../upstreams/upstreams.service.js';
import type { PoolUpstream } from '../../upstreams/upstreams.service.js';
import type { OwnPrices } from '../../prices/own-prices.js';
import { PricesService } from '../../prices/prices.service.js';

const MAX_CACHED_POOLS = 10_000;

/** Snapshot of an organization's upstreams and prices, until one of them changes. */
export interface Pool {
  /** Sorted by priority. */
  readonly upstreams: readonly PoolUpstream[];
  /** Whether an upstream does not serve every model. */
  readonly hasModelRules: boolean;
  readonly prices: OwnPrices | undefined;
}

/**
 * Cached pools of the organizations. While the database is unreachable, stale pools are served as long as stale keys
 * are; see {@link LeasedCache}.
 */
@Injectable()
export class Pools {
  private readonly cache: LeasedCache<number, Pool>;
  private readonly loads = new Map<number, Load>();

  constructor(
    private readonly upstreams: UpstreamsService,
    private readonly prices: PricesService,
    private readonly invalidations: Invalidations,
    { keyGraceSeconds }: Settings,
  ) {
    this.cache = new LeasedCache(
      invalidations,
      MAX_CACHED_POOLS,
      keyGraceSeconds * 1_000,
      ({ topic, organizationId }) => (topic === POOL_CHANGED ? (organizationId as number) : undefined),
    );
  }

  /** @returns the pool of the key's owner @throws DatabaseUnavailable */
  get({ organizationId, isInGrace }: AuthenticatedKey): Pool | Promise<Pool> {
    // A key in grace means that the database has just failed to respond: no second query.
    const pool = isInGrace ? this.cache.getStale(organizationId) : this.cache.getFresh(organizationId);
    return pool ?? this.loadOnce(organizationId);
  }

  /**
   * Joins a load that is under way, so that the first requests of an organization do not queue for the same rows. A load
   * that began before a change must not serve later requests: with a lease, this replica has received every change.
   */
  private loadOnce(organizationId: number): Promise<Pool> {
    const { changes } = this.cache;
    const running = this.loads.get(organizationId);
    if (running?.changes === changes && this.invalidations.hasLease) return running.pool;
    const load: Load = { pool: this.load(organizationId), changes };
    this.loads.set(organizationId, load);
    const forget = () => {
      if (this.loads.get(organizationId) === load) this.loads.delete(organizationId);
    };
    load.pool.then(forget, forget);
    return load.pool;
  }

  private async load(organizationId: number): Promise<Pool> {
    try {
      const { value } = await this.cache.read(organizationId, () => this.read(organizationId));
      return value;
    } catch {
      throw new DatabaseUnavailable();
    }
  }

  private async read(organizationId: number): Promise<Pool> {
    const [upstreams, prices] = await Promise.all([
      this.upstreams.findPool(organizationId),
      this.prices.find(organizationId),
    ]);
    return { upstreams, prices, hasModelRules: upstreams.some(({ rules }) => rules !== null) };
  }
}

/** Load of a pool that is under way. */
interface Load {
  readonly pool: Promise<Pool>;
  /** `LeasedCache.changes` at its beginning. */
  readonly changes: number;
}
