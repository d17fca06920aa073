import { Injectable } from '@nestjs/common';

const FAILURES_IN_A_ROW = 5;
const FAILURES_WITHIN_MS = 30_000;
const DEMOTED_MS = 15_000;

/**
 * Circuit breaker of this replica: after 5 failures in a row within 30 s, an upstream is tried last for 15 s. The
 * upstream is never left out, because no other one may be left.
 */
@Injectable()
export class UpstreamHealth {
  /** Failing upstreams by id, in the order of their last failures. Entries expire, and with them deleted upstreams. */
  private readonly failing = new Map<number, Failing>();

  /** @returns the pool in the order of the attempts: demoted upstreams last */
  sort<T extends { readonly id: number }>(pool: readonly T[]): readonly T[] {
    if (this.failing.size === 0) return pool;
    const now = performance.now();
    const demoted: T[] = [];
    const others: T[] = [];
    for (const upstream of pool) (this.isDemoted(upstream.id, now) ? demoted : others).push(upstream);
    return demoted.length === 0 ? pool : [...others, ...demoted];
  }

  recordSuccess(id: number): void {
    if (this.failing.size > 0) this.failing.delete(id);
  }

  recordFailure(id: number): void {
    const now = performance.now();
    this.removeOlderThan(now - FAILURES_WITHIN_MS);
    const { failedAt: earlier, demotedUntil } = this.failing.get(id) ?? NOT_FAILING;
    this.failing.delete(id); // the entry moves to the end
    const failedAt = [...earlier, now].slice(-FAILURES_IN_A_ROW);
    const isWithinPeriod = now - failedAt[0]! <= FAILURES_WITHIN_MS;
    const isDemotion = failedAt.length === FAILURES_IN_A_ROW && isWithinPeriod;
    this.failing.set(
      id,
      isDemotion ? { failedAt: [], demotedUntil: now + DEMOTED_MS } : { failedAt, demotedUntil },
    );
  }

  /** Removes upstreams whose last failure is older: they are no longer demoted, and none of their failures counts. */
  private removeOlderThan(time: number): void {
    for (const [id, { failedAt, demotedUntil }] of this.failing) {
      const lastAt = failedAt.at(-1) ?? demotedUntil - DEMOTED_MS;
      if (lastAt >= time) return;
      this.failing.delete(id);
    }
  }

  private isDemoted(id: number, now: number): boolean {
    return now < (this.failing.get(id) ?? NOT_FAILING).demotedUntil;
  }
}

interface Failing {
  /** Times of the last failures in a row, oldest first. */
  readonly failedAt: readonly number[];
  readonly demotedUntil: number;
}

const NOT_FAILING: Failing = { failedAt: [], demotedUntil: 0 };
