import { Injectable } from '@nestjs/common';

const FAILURES_IN_A_ROW = 5;
const FAILURES_WITHIN_MS = 30_000;
const DEMOTED_MS = 15_000;

/**
 * Which upstreams fail at the moment, as this replica sees it: after 5 failures in a row within 30 s, an upstream
 * is tried last for 15 s. It is never left out: it may be the only one that is left.
 */
@Injectable()
export class UpstreamHealth {
  /** When the last failures in a row happened, oldest first, by upstream. */
  private readonly failures = new Map<number, number[]>();
  private readonly demotedUntil = new Map<number, number>();

  /** The order in which they are tried now. */
  order<T extends { readonly id: number }>(pool: readonly T[]): readonly T[] {
    if (this.demotedUntil.size === 0) return pool;
    const now = performance.now();
    const demoted = pool.filter(({ id }) => this.isDemoted(id, now));
    if (demoted.length === 0) return pool;
    return [...pool.filter((upstream) => !demoted.includes(upstream)), ...demoted];
  }

  succeeded(id: number): void {
    if (this.failures.size > 0) this.failures.delete(id);
    if (this.demotedUntil.size > 0) this.demotedUntil.delete(id);
  }

  failed(id: number): void {
    const now = performance.now();
    const failures = [...(this.failures.get(id) ?? []), now].slice(-FAILURES_IN_A_ROW);
    this.failures.set(id, failures);
    const inTime = now - failures[0]! <= FAILURES_WITHIN_MS;
    if (failures.length < FAILURES_IN_A_ROW || !inTime) return;
    this.failures.delete(id);
    this.demotedUntil.set(id, now + DEMOTED_MS);
  }

  private isDemoted(id: number, now: number): boolean {
    const until = this.demotedUntil.get(id);
    if (until === undefined) return false;
    if (now < until) return true;
    this.demotedUntil.delete(id);
    return false;
  }
}
