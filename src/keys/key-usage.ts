import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationShutdown } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { InjectRepository } from '@nestjs/typeorm';
import { LRUCache } from 'lru-cache';
import { Repository } from 'typeorm';
import { ProxyKey } from './proxy-key.entity.js';

/** A key's time of last use is written once in this time. */
const RESOLUTION_MS = 60_000;
const FLUSH_INTERVAL_MS = 5_000;
const TRACKED_KEYS = 100_000;

/** Notes when keys are used, and writes it down off the request's path. */
@Injectable()
export class KeyUsage implements OnApplicationShutdown {
  private readonly logger = new Logger(KeyUsage.name);
  private readonly notedAt = new LRUCache<number, number>({ max: TRACKED_KEYS });
  private unwritten = new Map<number, number>();

  constructor(@InjectRepository(ProxyKey) private readonly keys: Repository<ProxyKey>) {}

  note(keyId: number): void {
    const now = Date.now();
    if (now - (this.notedAt.peek(keyId) ?? -Infinity) < RESOLUTION_MS) return;
    this.notedAt.set(keyId, now);
    this.unwritten.set(keyId, now);
  }

  @Interval(FLUSH_INTERVAL_MS)
  async flush(): Promise<void> {
    if (this.unwritten.size === 0) return;
    const batch = this.unwritten;
    this.unwritten = new Map();
    try {
      // Locked in one order by everybody who takes several: nobody waits for somebody who waits for them.
      await this.keys.query(
        `UPDATE proxy_keys k SET last_used_at = greatest(k.last_used_at, to_timestamp(used.at / 1000.0))
         FROM unnest($1::bigint[], $2::double precision[]) AS used (id, at)
         WHERE k.id = used.id AND k.id IN (
           SELECT id FROM proxy_keys WHERE id = ANY ($1) ORDER BY id FOR NO KEY UPDATE)`,
        [[...batch.keys()], [...batch.values()]],
      );
    } catch (error) {
      this.logger.warn({ reason: (error as Error).message }, 'the use of keys could not be written');
      for (const [id, at] of batch) this.unwritten.set(id, Math.max(at, this.unwritten.get(id) ?? 0));
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.flush();
  }
}
