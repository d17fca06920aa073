import { Injectable } from '@nestjs/common';
import type { OnModuleInit } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Invalidations } from '../database/invalidations.js';
import type { AuthenticatedKey } from '../keys/key-authenticator.js';
import { DatabaseUnavailable } from '../keys/keys.errors.js';
import { POOL_CHANGED, UpstreamsService } from '../upstreams/upstreams.service.js';
import type { PoolUpstream } from '../upstreams/upstreams.service.js';

const CACHED_POOLS = 10_000;

interface CachedPool {
  readonly pool: readonly PoolUpstream[];
  readonly epoch: number;
}

/**
 * The pools of the organizations, from memory wherever that may be believed: while this replica holds a lease,
 * and for as long as the database cannot be reached. Whoever asks holds a key that was verified, which ends
 * with the grace period.
 */
@Injectable()
export class Pools implements OnModuleInit {
  private readonly cache = new LRUCache<number, CachedPool>({ max: CACHED_POOLS });
  /** Counts changes: a pool during whose loading it changes is not kept. */
  private generation = 0;
  /** Counts gaps in what this replica has heard. */
  private epoch = 0;

  constructor(
    private readonly upstreams: UpstreamsService,
    private readonly invalidations: Invalidations,
  ) {}

  onModuleInit(): void {
    this.invalidations.on(
      ({ topic, organizationId }) => {
        if (topic !== POOL_CHANGED) return;
        this.generation++;
        this.cache.delete(organizationId as number);
      },
      () => this.epoch++,
    );
  }

  /** That of a key's owner, in the order of priority. @throws DatabaseUnavailable */
  of(key: AuthenticatedKey): readonly PoolUpstream[] | Promise<readonly PoolUpstream[]> {
    const cached = this.cache.get(key.organizationId);
    if (cached && key.isInGrace) return cached.pool; // the database was asked for the key, and did not answer
    const believed = cached?.epoch === this.epoch && this.invalidations.leased;
    return believed ? cached.pool : this.load(key.organizationId);
  }

  private async load(organizationId: number): Promise<readonly PoolUpstream[]> {
    const { generation, epoch } = this;
    let pool: readonly PoolUpstream[];
    try {
      pool = await this.upstreams.pool(organizationId);
    } catch {
      const known = this.cache.peek(organizationId);
      if (!known) throw new DatabaseUnavailable();
      return known.pool;
    }
    if (generation === this.generation) this.cache.set(organizationId, { pool, epoch });
    return pool;
  }
}
