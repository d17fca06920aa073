import { Injectable } from '@nestjs/common';
import type { AppliedLimits, Level } from './rules/applied-limits.js';
import { periodAt } from './rules/budget-period.js';
import { reaches } from './rules/limit-set.js';
import { Consumption } from './consumption/consumption.js';
import type { HeldUses, ScopeConsumption } from './consumption/scope-consumption.js';
import { rateLimitHeaders } from './rate-limit-headers.js';
import { RequestBuckets } from './requests/request-buckets.js';
import type { LocalBucket } from './requests/local-bucket.js';

const MS_PER_SECOND = 1_000;
/**
 * A request waits again if others have used the tokens that it waited for, or if the sums that it waited for are about
 * a period that ended meanwhile.
 */
const MAX_WAITS = 2;

/** Decision on a request. */
export interface Verdict {
  /** Limit that was hit; undefined if the request is admitted. */
  readonly exceeded?: Exceeded;
  /** Headers of the limits of requests and tokens: alternating names and values. */
  readonly headers: readonly string[];
}

/** Limit that rejects a request. */
export interface Exceeded {
  readonly limit: 'budget' | 'requests' | 'tokens';
  readonly level: Level;
  /** Time until a request may be admitted; null if that does not depend on the time. */
  readonly retryAfterSeconds: number | null;
}

/**
 * Admits requests within the limits of their keys. The budget is checked first, then the requests, then the tokens. Of
 * several levels that reject a request, the one with the longest wait decides.
 */
@Injectable()
export class LimitEnforcer {
  constructor(
    private readonly buckets: RequestBuckets,
    private readonly consumption: Consumption,
  ) {}

  /** Admits or rejects a request. Waits for the database only if this replica does not know enough. */
  admit(limits: AppliedLimits): Verdict | Promise<Verdict> {
    const now = performance.now();
    const time = Date.now();
    const { scopes, buckets } = this.countersOf(limits);
    for (const scope of scopes)
      if (this.consumption.needsRead(scope, time)) return this.decideLater(scopes, buckets);
    for (const bucket of buckets) if (this.needsTake(bucket, now)) return this.decideLater(scopes, buckets);
    return this.decide(scopes, buckets, now, time);
  }

  /** Finds a budget or a limit of tokens that is used up, as far as this replica knows. Counts no request. */
  check(limits: AppliedLimits): Exceeded | undefined {
    const { scopes } = this.countersOf(limits);
    const time = Date.now();
    return findSpent(scopes, time) ?? findUsedUp(scopes, time);
  }

  /** Headers of the limits as far as this replica knows them, for a request that is rejected for another reason. */
  headers(limits: AppliedLimits): readonly string[] {
    const { scopes, buckets } = this.countersOf(limits);
    return rateLimitHeaders(scopes, buckets, performance.now(), Date.now());
  }

  /** Counts the use of a request. */
  record(limits: AppliedLimits, tokens: number | null, usd: number | null): void {
    if (!tokens && !usd) return;
    const time = Date.now();
    const now = performance.now();
    for (const scope of this.countersOf(limits).scopes) scope.add(tokens ?? 0, usd ?? 0, time, now);
  }

  /** Counts the responses of a connection, which is recorded as a whole at its end. */
  hold(): ConnectionUse {
    const held = new Map<ScopeConsumption, HeldUses>();
    const usesOf = (scope: ScopeConsumption) => {
      const uses = held.get(scope) ?? scope.hold();
      held.set(scope, uses);
      return uses;
    };
    return {
      add: (limits, tokens, usd) => {
        if (!tokens && !usd) return;
        for (const scope of this.countersOf(limits).scopes)
          usesOf(scope).add(tokens ?? 0, usd ?? 0, Date.now());
      },
      release: () => {
        for (const uses of held.values()) uses.release(performance.now());
      },
    };
  }

  /** Whether only the database knows if there is a token. */
  private needsTake(bucket: LocalBucket, now: number): boolean {
    return !this.buckets.isOffline(now) && !bucket.hasToken(now) && !bucket.isEmpty(now);
  }

  private async decideLater(
    scopes: readonly ScopeConsumption[],
    buckets: readonly LocalBucket[],
  ): Promise<Verdict> {
    for (let attempt = 0; attempt < MAX_WAITS; attempt++) {
      const [now, time] = [performance.now(), Date.now()];
      const unread = scopes.filter((scope) => this.consumption.needsRead(scope, time));
      const missing = buckets.filter((bucket) => this.needsTake(bucket, now));
      if (unread.length === 0 && missing.length === 0) break;
      await Promise.all([
        unread.length > 0 ? this.consumption.read(unread) : undefined,
        missing.length > 0 ? this.buckets.take(missing) : undefined,
      ]);
    }
    return this.decide(scopes, buckets, performance.now(), Date.now());
  }

  private decide(
    scopes: readonly ScopeConsumption[],
    buckets: readonly LocalBucket[],
    now: number,
    time: number,
  ): Verdict {
    const exceeded = findSpent(scopes, time) ?? this.findEmpty(buckets, now) ?? findUsedUp(scopes, time);
    if (!exceeded) this.use(buckets, now);
    return { exceeded, headers: rateLimitHeaders(scopes, buckets, now, time) };
  }

  private findEmpty(buckets: readonly LocalBucket[], now: number): Exceeded | undefined {
    const isOffline = this.buckets.isOffline(now);
    let strictest: Exceeded | undefined;
    for (const bucket of buckets) {
      if (isOffline ? bucket.hasOwnToken(now) : bucket.hasToken(now)) continue;
      strictest = stricter(strictest, 'requests', bucket.level, bucket.retryMs(now));
    }
    if (strictest) for (const bucket of buckets) bucket.onDemand(now);
    return strictest;
  }

  private use(buckets: readonly LocalBucket[], now: number): void {
    const isOffline = this.buckets.isOffline(now);
    for (const bucket of buckets) {
      if (isOffline) bucket.useOwn(now);
      else bucket.use(now);
    }
  }

  /** Finds the counters of all levels. They are kept with the limits, because a request would need six look-ups. */
  private countersOf(limits: AppliedLimits): Counters {
    const known = counters.get(limits);
    if (known && !isForgotten(known)) return known;
    const consumed = limits.levels.filter(
      ({ budget, tokensPerMinute }) => budget !== null || tokensPerMinute !== null,
    );
    const counted = limits.levels.filter(({ requestsPerMinute }) => requestsPerMinute !== null);
    const found = {
      scopes: consumed.map((level) => this.consumption.get(level)),
      buckets: counted.map((level) => this.buckets.get(level)),
    };
    counters.set(limits, found);
    return found;
  }
}

/** Use of a connection. */
export interface ConnectionUse {
  /** Adds the use of one response. */
  add(limits: AppliedLimits, tokens: number | null, usd: number | null): void;
  /** Must be called after the connection was recorded. */
  release(): void;
}

/** Counters of the levels of one key. */
interface Counters {
  readonly scopes: readonly ScopeConsumption[];
  readonly buckets: readonly LocalBucket[];
}

const counters = new WeakMap<AppliedLimits, Counters>();

/** Whether a counter was dropped after a time without requests. */
function isForgotten({ scopes, buckets }: Counters): boolean {
  for (const scope of scopes) if (scope.isForgotten) return true;
  for (const bucket of buckets) if (bucket.isForgotten) return true;
  return false;
}

function findSpent(scopes: readonly ScopeConsumption[], time: number): Exceeded | undefined {
  let strictest: Exceeded | undefined;
  for (const scope of scopes) {
    scope.usedAt = time;
    const { budget, level } = scope.limits;
    if (!budget || !reaches(scope.spent(time), budget)) continue;
    const { end } = periodAt(budget.period, new Date(time));
    strictest = stricter(strictest, 'budget', level, end && end.getTime() - time);
  }
  return strictest;
}

function findUsedUp(scopes: readonly ScopeConsumption[], time: number): Exceeded | undefined {
  let strictest: Exceeded | undefined;
  for (const scope of scopes) {
    const { tokensPerMinute, level } = scope.limits;
    if (tokensPerMinute === null || scope.tokens(time) < tokensPerMinute) continue;
    strictest = stricter(strictest, 'tokens', level, scope.retryMs(time));
  }
  return strictest;
}

/** Selects the limit with the longer wait. Null is the longest: no time ends it. */
function stricter(
  known: Exceeded | undefined,
  limit: Exceeded['limit'],
  level: Level,
  waitMs: number | null,
): Exceeded {
  const retryAfterSeconds = waitMs === null ? null : Math.max(1, Math.ceil(waitMs / MS_PER_SECOND));
  if (known && (known.retryAfterSeconds ?? Infinity) >= (retryAfterSeconds ?? Infinity)) return known;
  return { limit, level, retryAfterSeconds };
}
