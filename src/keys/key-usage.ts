import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationShutdown } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { InjectRepository } from '@nestjs/typeorm';
import { LRUCache } from 'lru-cache';
import { Repository } from 'typeorm';
import { errorMessage } from '../common/logging/error-message.js';
import { ProxyKey } from './proxy-key.entity.js';

/** Resolution of the time of last use. All replicas together write it once per key in this time. */
const RESOLUTION_MS = 60_000;
const FLUSH_INTERVAL_MS = 5_000;
const TRACKED_KEYS = 100_000;

/** Skips keys that another replica wrote within the resolution, and keys that are locked. */
const WRITE = `
  UPDATE proxy_keys k SET last_used_at = due.at
  FROM (
    SELECT id, used.at
    FROM proxy_keys
      JOIN (SELECT id, to_timestamp(ms / 1000) AS at FROM unnest($1::bigint[], $2::double precision[]) AS n (id, ms))
        AS used USING (id)
    WHERE last_used_at IS NULL OR last_used_at <= used.at - $3 * interval '1 millisecond'
    FOR NO KEY UPDATE OF proxy_keys SKIP LOCKED) AS due
  WHERE k.id = due.id
  RETURNING k.id`;

/** Records the time of last use of keys and writes it in batches, not during the request. */
@Injectable()
export class KeyUsage implements OnApplicationShutdown {
  private readonly logger = new Logger(KeyUsage.name);
  private readonly notedAt = new LRUCache<number, number>({ max: TRACKED_KEYS });
  private unwritten = new Map<number, number>();

  constructor(@InjectRepository(ProxyKey) private readonly keys: Repository<ProxyKey>) {}

  recordUse(keyId: number): void {
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
      const values = [[...batch.keys()], [...batch.values()], RESOLUTION_MS];
      const [rows] = await this.keys.query<[{ id: number }[], number]>(WRITE, values);
      const written = new Set(rows.map(({ id }) => id));
      for (const id of batch.keys()) if (!written.has(id)) this.notedAt.delete(id); // retried with the next use
    } catch (error) {
      this.logger.warn({ reason: errorMessage(error) }, 'the time of last use of keys could not be written');
      for (const [id, at] of batch) this.unwritten.set(id, Math.max(at, this.unwritten.get(id) ?? 0));
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.flush();
  }
}
