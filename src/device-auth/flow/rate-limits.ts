import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { LRUCache } from 'lru-cache';
import { Repository } from 'typeorm';
import { RateLimited } from './device-auth.errors.js';
import { RateLimit } from './rate-limit.entity.js';

/**
 * Completes `INSERT INTO rate_limits AS r`: adds the inserted hits to the current window, or begins a new window.
 * A window begins with its first hit.
 */
export const ADD_HITS = `
  ON CONFLICT (key) DO UPDATE SET
    hits = excluded.hits + CASE WHEN r.resets_at > clock_timestamp() THEN r.hits ELSE 0 END,
    resets_at = CASE WHEN r.resets_at > clock_timestamp() AND r.hits > 0 THEN r.resets_at ELSE excluded.resets_at END`;

/** Whole seconds until the window ends; at least one. */
export const RETRY_AFTER = `greatest(1, ceil(extract(epoch FROM resets_at - clock_timestamp())))::int`;

const HIT = `
  INSERT INTO rate_limits AS r (key, hits, resets_at)
  VALUES ($1, 1, clock_timestamp() + make_interval(secs => $2))
  ${ADD_HITS} RETURNING hits, greatest(1, ceil(extract(epoch FROM resets_at - clock_timestamp()) * 1000))::int AS left_ms`;

/** Limits memory. A client that is evicted costs one more statement. */
const REMEMBERED_CLIENTS = 10_000;

/**
 * Counts in PostgreSQL, by the database's clock, so that a limit applies to all replicas together. Each request costs
 * one statement. After the limit is exceeded, the replica rejects the client from memory until the window ends.
 *
 * rate-limiter-flexible is not used: it cannot look up a user code and count a wrong one in a single statement,
 * as {@link UserCodeLookup} must.
 */
@Injectable()
export class RateLimits {
  /** Keys over their limit. Each entry lives until its window ends. */
  private readonly exceeded = new LRUCache<string, true>({ max: REMEMBERED_CLIENTS });

  constructor(@InjectRepository(RateLimit) private readonly limits: Repository<RateLimit>) {}

  /** Counts one hit. @throws RateLimited for every hit above `allowed` until the window ends */
  async hit(key: string, allowed: number, windowSeconds: number): Promise<void> {
    const knownLeftMs = this.exceeded.getRemainingTTL(key);
    if (knownLeftMs > 0) throw rateLimited(knownLeftMs);
    const [row] = await this.limits.query<{ hits: number; left_ms: number }[]>(HIT, [key, windowSeconds]);
    const { hits, left_ms: leftMs } = row!;
    if (hits <= allowed) return;
    this.exceeded.set(key, true, { ttl: leftMs });
    throw rateLimited(leftMs);
  }
}

function rateLimited(leftMs: number): RateLimited {
  return new RateLimited(Math.ceil(leftMs / 1_000));
}
