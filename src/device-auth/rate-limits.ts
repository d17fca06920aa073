import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { RateLimited } from './device-auth.errors.js';
import { RateLimit } from './rate-limit.entity.js';

/**
 * Adds to the hits of a window, or begins a new one with what is added: goes with
 * `INSERT INTO rate_limits AS r`. A window begins with its first hit and not before.
 */
export const ADD_HITS = `
  ON CONFLICT (key) DO UPDATE SET
    hits = excluded.hits + CASE WHEN r.resets_at > clock_timestamp() THEN r.hits ELSE 0 END,
    resets_at = CASE WHEN r.resets_at > clock_timestamp() AND r.hits > 0 THEN r.resets_at ELSE excluded.resets_at END`;

/** Whole seconds until the window is over; at least one. */
export const RETRY_AFTER = `greatest(1, ceil(extract(epoch FROM resets_at - clock_timestamp())))::int`;

const HIT = `
  INSERT INTO rate_limits AS r (key, hits, resets_at)
  VALUES ($1, 1, clock_timestamp() + make_interval(secs => $2))
  ${ADD_HITS} RETURNING hits, ${RETRY_AFTER} AS retry_after`;

/**
 * Counts in PostgreSQL, by its clock, so that a limit holds for all replicas together. One statement a request.
 *
 * rate-limiter-flexible would do for this much, by the clock of each replica; but it cannot look up a code and
 * count it when it is wrong in one step, which {@link UserCodeLookup} has to.
 */
@Injectable()
export class RateLimits {
  constructor(@InjectRepository(RateLimit) private readonly limits: Repository<RateLimit>) {}

  /** @throws RateLimited from the hit after the last one allowed until the window is over */
  async hit(key: string, allowed: number, windowSeconds: number): Promise<void> {
    const [row] = await this.limits.query<{ hits: number; retry_after: number }[]>(HIT, [key, windowSeconds]);
    if (row!.hits > allowed) throw new RateLimited(row!.retry_after);
  }
}
