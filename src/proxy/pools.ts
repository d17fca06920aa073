import { Injectable } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { Invalidations } from '../database/invalidations.js';
import { LeasedCache } from '../database/leased-cache.js';
import type { AuthenticatedKey } from '../keys/key-authenticator.js';
import { DatabaseUnavailable } from '../keys/keys.errors.js';
import { POOL_CHANGED, UpstreamsService } from '../upstreams/upstreams.service.js';
import type { PoolUpstream } from '../upstreams/upstreams.service.js';

const CACHED_POOLS = 10_000;

type Pool = readonly PoolUpstream[];

/**
 * The pools of the organizations, from memory wherever that may be believed ({@link LeasedCache}), and for as long as
 * keys are served while the database cannot be reached.
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
      CACHED_POOLS,
      keyGraceSeconds * 1_000,
      ({ topic, organizationId }) => (topic === POOL_CHANGED ? (organizationId as number) : undefined),
    );
  }

  /** That of a key's owner, in the order of priority. @throws DatabaseUnavailable */
  of({ organizationId, isInGrace }: AuthenticatedKey): Pool | Promise<Pool> {
    // In grace, the database was asked for the key just now, and has not answered.
    const pool = isInGrace ? this.cache.known(organizationId) : this.cache.believed(organizationId);
    return pool ?? this.load(organizationId);
  }

  private async load(organizationId: number): Promise<Pool> {
    try {
      const { value } = await this.cache.ask(organizationId, () => this.upstreams.pool(organizationId));
      return value;
    } catch {
      throw new DatabaseUnavailable();
    }
  }
}
