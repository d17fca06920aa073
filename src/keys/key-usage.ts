import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationShutdown } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { InjectRepository } from '@nestjs/typeorm';
import { LRUCache } from 'lru-cache';
import { Repository } from 'typeorm';
import { messagesOf } from '../common/messages-of.js';
import { ProxyKey } from './proxy-key.entity.js';

/** A key's time of last use is written once in this time, by all replicas together. */
const RESOLUTION_MS = 60_000;
const FLUSH_INTERVAL_MS = 5_000;
const TRACKED_KEYS = 100_000;

/** What another replica has written within the resolution stays, and nobody is waited for who holds a key. */
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
      const values = [[...batch.keys()], [...batch.values()], RESOLUTION_MS];
      const [rows] = await this.keys.query<[{ id: number }[], number]>(WRITE, values);
      const written = new Set(rows.map(({ id }) => id));
      for (const id of batch.keys()) if (!written.has(id)) this.notedAt.delete(id); // due before a minute is over
    } catch (error) {
      this.logger.warn({ reason: messagesOf(error) }, 'the use of keys could not be written');
      for (const [id, at] of batch) this.unwritten.set(id, Math.max(at, this.unwritten.get(id) ?? 0));
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.flush();
  }
}
