import type { LevelLimits } from '../rules/applied-limits.js';
import { periodAt } from '../rules/budget-period.js';
import type { Budget } from '../rules/limit-set.js';
import { WINDOW_SECONDS } from './consumption-statement.js';
import type { ConsumptionRow } from './consumption-statement.js';

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
  /** Beginning of the last successful load. */
  loadedAt = -Infinity;
  private seconds: readonly Use[] = [];
  private spentInDatabase = 0;
  /** Period that the loaded sum is about. */
  private loadedPeriod?: number | null = undefined;
  private present: Present;
  private own: OwnUse[] = [];
  /** Uses whose records follow when their connections end. */
  private readonly held = new Set<Use>();
  private writtenUntil = -Infinity;
  private tokenSum = 0;
  private usdSum = 0;
  /** Time at which the sums have to be made again. */
  private sumsEndAt = -Infinity;

  constructor(private currentLimits: LevelLimits) {
    this.present = presentPeriod(currentLimits.budget, 0);
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

  /** @param writtenUntil time of `performance.now()` until which the records of this replica were written before the sums were read */
  onLoaded({ tokens, spent }: ConsumptionRow, beganAt: number, writtenUntil: number): void {
    this.loadedAt = beganAt;
    this.seconds = (tokens ?? []).map(([second, count]) => ({
      at: second * MS_PER_SECOND,
      tokens: count,
      usd: 0,
    }));
    this.spentInDatabase = spent ?? 0;
    this.loadedPeriod = this.startAt(beganAt);
    this.sumsEndAt = -Infinity;
    this.writtenUntil = writtenUntil;
    this.own = this.own.filter(({ measuredAt }) => measuredAt >= writtenUntil);
  }

  /**
   * Adds the use of a request that this replica has served.
   * @param measuredAt time of `performance.now()`
   */
  add(tokens: number, usd: number, now: number, measuredAt: number): void {
    this.tokenSum += tokens;
    this.usdSum += usd;
    const last = this.own.at(-1);
    if (last && now - last.at < MERGED_MS && last.measuredAt >= this.writtenUntil) {
      last.measuredAt = measuredAt;
      last.tokens += tokens;
      last.usd += usd;
      return;
    }
    this.own.push({ at: now, measuredAt, tokens, usd });
    this.sumsEndAt = Math.min(this.sumsEndAt, now + WINDOW_MS);
    if (this.own.length > OWN_MAX) this.own.splice(0, 2, sumOf(this.own[0]!, this.own[1]!));
  }

  /**
   * Adds the use of one response of a connection. It counts here until the record of the connection is written.
   * @returns function to be called after the connection was recorded, with the time of `performance.now()`
   */
  hold(tokens: number, usd: number, now: number): (recordedAt: number) => void {
    const use = { at: now, tokens, usd };
    this.held.add(use);
    this.sumsEndAt = -Infinity;
    return (measuredAt) => {
      this.held.delete(use);
      this.own.push({ ...use, measuredAt });
      this.sumsEndAt = -Infinity;
    };
  }

  /** Tokens of the last minute. */
  tokens(now: number): number {
    if (now >= this.sumsEndAt) this.sumUp(now);
    return this.tokenSum;
  }

  /** USD of the present period. */
  spent(now: number): number {
    if (now >= this.sumsEndAt) this.sumUp(now);
    return this.usdSum;
  }

  /** Adds up the uses that count, and finds the time at which one of them no longer does. */
  private sumUp(now: number): void {
    const start = this.startAt(now);
    const from = now - WINDOW_MS;
    this.tokenSum = 0;
    this.usdSum = start === this.loadedPeriod ? this.spentInDatabase : 0;
    this.sumsEndAt = this.present.end;
    for (const uses of [this.seconds, this.own, this.held]) {
      for (const { at, tokens, usd } of uses) {
        if (at >= (start ?? 0)) this.usdSum += usd;
        if (at <= from) continue;
        this.tokenSum += tokens;
        this.sumsEndAt = Math.min(this.sumsEndAt, at + WINDOW_MS);
      }
    }
  }

  /** USD of the present period that the database has. */
  get spentInRecords(): number {
    return this.spentInDatabase;
  }

  /** Whether the loaded sums are recent enough, and those of the present period. */
  isFresh(now: number, maxAgeMs: number): boolean {
    return now - this.loadedAt <= maxAgeMs && this.startAt(now) === this.loadedPeriod;
  }

  /** Time until the tokens of the last minute are fewer than the limit. */
  retryMs(now: number): number {
    let tokens = this.tokens(now);
    for (const use of [...this.seconds, ...this.own, ...this.held].toSorted((a, b) => a.at - b.at)) {
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

  /** Start of the present period; null for a budget without periods, and without a budget. */
  private startAt(now: number): number | null {
    const { budget } = this.limits;
    if (now < this.present.end && budget === this.present.budget) return this.present.start;
    this.present = presentPeriod(budget, now);
    return this.present.start;
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

function sumOf(first: OwnUse, second: OwnUse): OwnUse {
  return { ...second, tokens: first.tokens + second.tokens, usd: first.usd + second.usd };
}

/** Present period of a budget. */
interface Present {
  readonly budget: Budget | null;
  readonly start: number | null;
  readonly end: number;
}

function presentPeriod(budget: Budget | null, now: number): Present {
  const { start = null, end = null } = budget ? periodAt(budget.period, new Date(now)) : {};
  return { budget, start: start?.getTime() ?? null, end: end?.getTime() ?? Infinity };
}
