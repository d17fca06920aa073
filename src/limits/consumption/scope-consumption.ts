import type { LevelLimits } from '../rules/applied-limits.js';
import { currentPeriod } from '../rules/budget-period.js';
import type { CurrentPeriod } from '../rules/budget-period.js';
import type { Period } from '../rules/limit-set.js';
import { WINDOW_SECONDS } from './consumption-statement.js';
import type { ConsumptionRow, LoadQuery } from './consumption-statement.js';

const MS_PER_SECOND = 1_000;
const WINDOW_MS = WINDOW_SECONDS * MS_PER_SECOND;
/** Maximum number of sums of own use. The oldest are added up, because the database may be away for hours. */
const OWN_MAX = 600;
/** Own uses within so many milliseconds share a sum. */
const MERGED_MS = 100;

/**
 * Consumption of one scope, as this replica knows it: what the database has, and what this replica has measured since.
 * Times are Unix times in milliseconds.
 */
export class ScopeConsumption {
  usedAt = Date.now();
  /** Whether a new object takes the place of this one. */
  isForgotten = false;
  /** Read of the sums that is running. */
  reading?: Promise<void> = undefined;
  private seconds: readonly Use[] = [];
  private spentInDatabase = 0;
  /** Query that the last sums are the result of. */
  private loaded?: LoadQuery = undefined;
  private current: CurrentPeriod;
  private own: OwnUse[] = [];
  /** Uses whose records follow when their connections end, by connection. */
  private readonly held = new Set<OwnUse[]>();
  private writtenUntil = -Infinity;
  private tokenSum = 0;
  private usdSum = 0;
  /** Time at which the sums have to be made again. */
  private sumsEndAt = -Infinity;

  constructor(private currentLimits: LevelLimits) {
    this.current = currentPeriod(currentLimits.budget, 0);
  }

  get limits(): LevelLimits {
    return this.currentLimits;
  }

  /** Applies the limits of a key, unless newer ones are known: a key that a long request holds may have old ones. */
  update(limits: LevelLimits): void {
    if (limits.version < this.currentLimits.version) return;
    this.currentLimits = limits;
    this.sumsEndAt = -Infinity;
  }

  /** Creates the query for the sums. */
  queryAt(now: number): LoadQuery {
    const { level, name, organizationId, userId, keyId, tokensPerMinute } = this.limits;
    const query = { level, name, organizationId, userId, keyId, countsTokens: tokensPerMinute !== null };
    return { ...query, period: this.period, start: this.startAt(now), at: now };
  }

  /**
   * Takes over the sums, unless newer ones are known or the limits of now need others.
   * @param writtenUntil time of `performance.now()` until which the records of this replica were written before the sums were read
   * @returns whether the sums were taken over
   */
  onLoaded({ tokens, spent }: ConsumptionRow, query: LoadQuery, writtenUntil: number): boolean {
    if (query.at < (this.loaded?.at ?? -Infinity) || !this.fits(query)) return false;
    this.loaded = query;
    this.seconds = (tokens ?? []).map(([second, count]) => ({
      at: second * MS_PER_SECOND,
      tokens: count,
      usd: 0,
    }));
    this.spentInDatabase = spent ?? 0;
    this.sumsEndAt = -Infinity;
    this.writtenUntil = writtenUntil;
    this.own = this.own.filter(({ measuredAt }) => measuredAt >= writtenUntil);
    return true;
  }

  /**
   * Adds the use of a request that this replica has served.
   * @param measuredAt time of `performance.now()`
   */
  add(tokens: number, usd: number, now: number, measuredAt: number): void {
    this.count(this.own, { at: now, measuredAt, tokens, usd });
  }

  /** Counts the responses of a connection here until its record is written. */
  hold(): HeldUses {
    const uses: OwnUse[] = [];
    this.held.add(uses);
    return {
      add: (tokens, usd, now) => {
        this.count(uses, { at: now, tokens, usd, measuredAt: Infinity });
      },
      release: (measuredAt) => {
        this.held.delete(uses);
        this.own.push(...uses.map((use) => ({ ...use, measuredAt })));
        this.sumsEndAt = -Infinity;
      },
    };
  }

  private count(uses: OwnUse[], use: OwnUse): void {
    const { tokens, usd, at, measuredAt } = use;
    this.tokenSum += tokens;
    this.usdSum += usd;
    const last = uses.at(-1);
    if (last && at - last.at < MERGED_MS && last.measuredAt >= this.writtenUntil) {
      last.measuredAt = measuredAt;
      last.tokens += tokens;
      last.usd += usd;
      return;
    }
    uses.push(use);
    this.sumsEndAt = Math.min(this.sumsEndAt, at + WINDOW_MS);
    if (uses.length > OWN_MAX) uses.splice(0, 2, sumOf(uses[0]!, uses[1]!));
  }

  /** Tokens of the last minute. */
  tokens(now: number): number {
    if (now >= this.sumsEndAt) this.sumUp(now);
    return this.tokenSum;
  }

  /** USD of the current period. */
  spent(now: number): number {
    if (now >= this.sumsEndAt) this.sumUp(now);
    return this.usdSum;
  }

  /** Adds up the uses that count, and finds the time at which one of them no longer does. */
  private sumUp(now: number): void {
    const start = this.startAt(now);
    const from = now - WINDOW_MS;
    this.tokenSum = 0;
    this.usdSum = this.hasSumSince(start) ? this.spentInDatabase : 0;
    this.sumsEndAt = this.current.end;
    for (const uses of [this.seconds, this.own, ...this.held]) {
      for (const { at, tokens, usd } of uses) {
        if (at >= (start ?? 0)) this.usdSum += usd;
        if (at <= from) continue;
        this.tokenSum += tokens;
        this.sumsEndAt = Math.min(this.sumsEndAt, at + WINDOW_MS);
      }
    }
  }

  /** USD that the database has, and the start of their period: Unix time in milliseconds, null for `total`. */
  get spentInRecords(): { readonly usd: number; readonly start: number | null } {
    return { usd: this.spentInDatabase, start: this.loaded?.start ?? null };
  }

  /** Whether the loaded sums are recent enough, those that the limits need, and those of the current period. */
  isFresh(now: number, maxAgeMs: number): boolean {
    const { loaded } = this;
    if (!loaded || now - loaded.at > maxAgeMs || !this.fits(loaded)) return false;
    return this.hasSumSince(this.startAt(now));
  }

  private get period(): Period | null {
    return this.limits.budget?.period ?? null;
  }

  /** Whether the result of a query has the sums that the limits need. */
  private fits({ period, countsTokens }: LoadQuery): boolean {
    return period === this.period && (countsTokens || this.limits.tokensPerMinute === null);
  }

  /** Whether the loaded sum is that of the period with this start. */
  private hasSumSince(start: number | null): boolean {
    return this.loaded?.period === this.period && this.loaded.start === start;
  }

  /** Time until the tokens of the last minute are fewer than the limit. */
  retryMs(now: number): number {
    let tokens = this.tokens(now);
    for (const use of [...this.seconds, ...this.own, ...[...this.held].flat()].toSorted(
      (a, b) => a.at - b.at,
    )) {
      if (use.at <= now - WINDOW_MS) continue;
      tokens -= use.tokens;
      if (tokens < this.limits.tokensPerMinute!) return use.at + WINDOW_MS - now;
    }
    return 0;
  }

  /** Time until no token of the past counts. */
  resetMs(now: number): number {
    const last = Math.max(this.seconds.at(-1)?.at ?? 0, this.own.at(-1)?.at ?? 0);
    return Math.max(0, last + WINDOW_MS - now);
  }

  /** Start of the current period; null for a budget without periods, and without a budget. */
  private startAt(now: number): number | null {
    const { budget } = this.limits;
    if (now < this.current.end && budget === this.current.budget) return this.current.start;
    this.current = currentPeriod(budget, now);
    return this.current.start;
  }
}

/** Tokens and costs of requests that ended at about the same time. */
interface Use {
  readonly at: number;
  tokens: number;
  usd: number;
}

/** Use that this replica has measured. */
interface OwnUse extends Use {
  /** Time of `performance.now()`, which is exact enough to tell it from the time of a write. */
  measuredAt: number;
}

/** Uses of the responses of one connection. */
export interface HeldUses {
  add(tokens: number, usd: number, now: number): void;
  /** Must be called after the connection was recorded. @param measuredAt time of `performance.now()` */
  release(measuredAt: number): void;
}

function sumOf(first: OwnUse, second: OwnUse): OwnUse {
  return { ...second, tokens: first.tokens + second.tokens, usd: first.usd + second.usd };
}
