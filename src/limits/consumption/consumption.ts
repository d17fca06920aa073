import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { PreparedQueries } from '../../database/connection/prepared-queries.js';
import { UrgentQueries } from '../../database/connection/urgent-queries.js';
import { Jobs } from '../../jobs/jobs.js';
import type { LevelLimits } from '../rules/applied-limits.js';
import { CONSUMPTION, consumptionValues, DELETE_OLD } from './consumption-statement.js';
import type { ConsumptionRow } from './consumption-statement.js';
import { ScopeConsumption } from './scope-consumption.js';
import { WrittenUsage } from './written-usage.js';

/** Interval at which the sums of the active scopes are read. */
const POLL_MS = 1_500;
/** Older sums are read again before a request is admitted. A record counts at most this time after it was written. */
const MAX_AGE_MS = 4_000;
/** The sums of a scope are read for so long after its last request. */
const ACTIVE_MS = 10_000;
/** The own use of a scope is kept for so long, in case the database is away. */
const KEPT_MS = 3_600_000;
/** Time after a failed read for which requests do not wait for another one. */
const OFFLINE_MS = 1_000;
/** Maximum number of scopes of one statement. */
const BATCH = 200;

/**
 * Tokens and costs that limits are compared with. They are sums of the usage records. A replica reads the sums of the
 * scopes in use at an interval, and adds what it has measured itself since the last read. While the database is
 * unreachable, the last sums and the own figures count.
 */
@Injectable()
export class Consumption {
  private readonly scopes = new Map<string, ScopeConsumption>();
  private readonly listeners: ((scope: ScopeConsumption) => void)[] = [];
  private offlineUntil = -Infinity;
  private isPolling = false;

  constructor(
    private readonly urgent: UrgentQueries,
    private readonly written: WrittenUsage,
    queries: PreparedQueries,
    jobs: Jobs,
  ) {
    jobs.add({
      name: 'forget_recent_usage',
      everySeconds: 60,
      work: () => queries.rows(DELETE_OLD, []),
    });
  }

  /** @param listener called with every scope whose sums were read */
  onRead(listener: (scope: ScopeConsumption) => void): void {
    this.listeners.push(listener);
  }

  /** Finds the consumption of a level. The sums are up to date if {@link needsRead} is false. */
  get(limits: LevelLimits): ScopeConsumption {
    const known = this.scopes.get(limits.name);
    known?.update(limits);
    const scope = known ?? new ScopeConsumption(limits);
    this.scopes.set(limits.name, scope);
    return scope;
  }

  needsRead(scope: ScopeConsumption, now: number): boolean {
    return !scope.isFresh(now, MAX_AGE_MS) && now >= this.offlineUntil;
  }

  /** Reads the sums, or waits for the read of them that is running. Never rejects: without the database, the last ones count. */
  async read(scopes: readonly ScopeConsumption[]): Promise<void> {
    const others = scopes.filter((scope) => !scope.reading);
    if (others.length > 0) {
      const reading = this.readNow(others);
      for (const scope of others) scope.reading = reading;
    }
    await Promise.all(scopes.flatMap(({ reading }) => reading ?? []));
  }

  @Interval(POLL_MS)
  async poll(): Promise<void> {
    if (this.isPolling) return;
    this.isPolling = true;
    const now = Date.now();
    for (const [name, scope] of this.scopes) {
      if (now - scope.usedAt <= KEPT_MS) continue;
      scope.isForgotten = true;
      this.scopes.delete(name);
    }
    const active = [...this.scopes.values()].filter(({ usedAt }) => now - usedAt <= ACTIVE_MS);
    for (let from = 0; from < active.length; from += BATCH) await this.read(active.slice(from, from + BATCH));
    this.isPolling = false;
  }

  private async readNow(scopes: readonly ScopeConsumption[]): Promise<void> {
    const beganAt = Date.now();
    const queries = scopes.map((scope) => scope.queryAt(beganAt));
    try {
      const values = consumptionValues(queries, new Date(beganAt));
      const rows = await this.urgent.rows<ConsumptionRow>(CONSUMPTION, values);
      await nextTurn(); // see `WrittenUsage`: the response to an earlier write was read before
      const writtenUntil = this.written.until;
      const rowByScope = new Map(rows.map((row) => [row.scope, row]));
      for (const [i, scope] of scopes.entries()) {
        const query = queries[i]!;
        const row = rowByScope.get(query.name);
        if (row && scope.onLoaded(row, query, writtenUntil)) this.notify(scope);
      }
    } catch {
      this.offlineUntil = Date.now() + OFFLINE_MS;
    } finally {
      for (const scope of scopes) scope.reading = undefined;
    }
  }

  private notify(scope: ScopeConsumption): void {
    for (const listener of this.listeners) listener(scope);
  }
}
