import type { Level, LevelLimits } from '../rules/applied-limits.js';
import { REFILL_PER_SECOND } from './take-statement.js';
import type { TakenRow } from './take-statement.js';

/** Time for which a replica uses a share, counted from before it was taken: shorter than `SHARE_SECONDS`. */
const SHARE_MS = 1_500;
/** Age at which the rest of a share is returned. */
const RETURN_AFTER_MS = 1_000;
const MS_PER_SECOND = 1_000;
/** A share covers the expected requests of so many seconds. */
const AHEAD_SECONDS = 1.5;
/** Largest part of the capacity that one replica takes in advance. */
const MAX_AHEAD = 0.1;
/** A refill by fractions may miss a whole number by a rounding error. */
const ALMOST_ONE = 1 - 1e-6;

/** This replica's part of one token bucket. Times are those of `performance.now()`. */
export class LocalBucket {
  /** Requests that wait for the next take. */
  waiting = 0;
  /** Number of statements that take tokens for waiting requests. */
  takes = 0;
  /** Set while shares are returned and taken in advance. */
  exchange?: Promise<void> = undefined;
  usedAt = performance.now();
  /** Whether a new bucket takes the place of this one. */
  isForgotten = false;
  private shares: Share[] = [];
  /** Tokens in the database at {@link leftAt}. */
  private left: number;
  private leftAt = -Infinity;
  /** Time until which the bucket is known to be empty. */
  private emptyUntil = -Infinity;
  private usesNow = 0;
  private usesBefore = 0;

  constructor(private limits: LevelLimits) {
    this.left = this.capacity;
  }

  get scope(): string {
    return this.limits.name;
  }

  get level(): Level {
    return this.limits.level;
  }

  /** Requests per minute, all of which a full bucket holds. */
  get capacity(): number {
    return this.limits.requestsPerMinute!;
  }

  /**
   * Applies the limits of a key, unless newer ones are known: a key that a long request holds may have old ones. Another
   * capacity refills the bucket at another rate, so the time at which it has a token is unknown.
   */
  update(limits: LevelLimits): void {
    if (limits.version < this.limits.version) return;
    if (limits.requestsPerMinute !== this.capacity) this.emptyUntil = -Infinity;
    this.limits = limits;
  }

  /** Whether requests wait for a token. */
  get isTaking(): boolean {
    return this.waiting > 0 || this.takes > 0;
  }

  /** Whether no request has used the bucket for a time. */
  isIdle(now: number, ms: number): boolean {
    return now - this.usedAt > ms && !this.isTaking;
  }

  get hasShares(): boolean {
    return this.shares.length > 0;
  }

  hasToken(now: number): boolean {
    for (const share of this.shares) if (share.tokens > 0 && share.usableUntil > now) return true;
    return false;
  }

  /** Whether the database had no token at the last take, and has none yet. */
  isEmpty(now: number): boolean {
    return now < this.emptyUntil;
  }

  /** Uses a token; {@link hasToken} must be true. The oldest share is used first. */
  use(now: number): void {
    this.onDemand(now);
    for (const share of this.shares) {
      if (share.tokens === 0 || share.usableUntil <= now) continue;
      share.tokens--;
      return;
    }
  }

  /** Notes a request, so that later shares are large enough. */
  onDemand(now: number): void {
    this.usedAt = now;
    this.usesNow++;
  }

  /** Begins the next second of the count of uses. */
  endSecond(): void {
    this.usesBefore = this.usesNow;
    this.usesNow = 0;
  }

  /** Number of tokens to take in advance. */
  wantedAhead(now: number): number {
    const perSecond = Math.max(this.usesNow, this.usesBefore, this.waiting);
    const expected = Math.ceil(perSecond * AHEAD_SECONDS);
    const ahead = Math.min(Math.max(expected, this.capacity / 60), this.capacity * MAX_AHEAD);
    return Math.max(0, Math.floor(ahead) - this.usable(now));
  }

  /**
   * Removes empty shares, and those that are about to end.
   * @param ageMs age from which a share is removed
   * @returns the rest of these, for the database
   */
  removeOld(now: number, ageMs = RETURN_AFTER_MS): Returned | undefined {
    const usable = this.shares.filter(({ tokens, usableUntil }) => tokens > 0 && usableUntil > now);
    const isOld = ({ usableUntil }: Share) => usableUntil - now <= SHARE_MS - ageMs;
    this.shares = usable.filter((share) => !isOld(share));
    const old = usable.filter(isOld);
    const tokens = old.reduce((sum, share) => sum + share.tokens, 0);
    return old[0] && { tokens, takenAt: old[0].takenAt };
  }

  /** @param sentAt time at which the statement was sent */
  onTaken({ granted, tokens, taken_at: takenAt }: TakenRow, sentAt: number, now: number): void {
    if (granted > 0) this.shares.push({ tokens: granted, takenAt, usableUntil: sentAt + SHARE_MS });
    this.left = tokens;
    this.leftAt = now;
    const missing = ALMOST_ONE - tokens;
    this.emptyUntil = missing > 0 ? now + (missing / this.perSecond) * MS_PER_SECOND : -Infinity;
  }

  /** Whether there is a token by this replica's own count, which goes on from the last known level. */
  hasOwnToken(now: number): boolean {
    return this.leftIn(now) + this.usable(now) >= ALMOST_ONE;
  }

  /** Uses a token without the database; {@link hasOwnToken} must be true. */
  useOwn(now: number): void {
    this.usedAt = now;
    this.left = this.leftIn(now) + this.usable(now) - 1;
    this.leftAt = now;
    this.shares = [];
    this.emptyUntil = -Infinity;
  }

  /** Requests that may follow at once, as far as this replica knows. */
  remaining(now: number): number {
    return Math.floor(Math.min(this.capacity, this.leftIn(now) + this.usable(now)) + 1 - ALMOST_ONE);
  }

  /** Time until the bucket is full. */
  resetMs(now: number): number {
    const missing = this.capacity - Math.min(this.capacity, this.leftIn(now) + this.usable(now));
    return (missing / this.perSecond) * MS_PER_SECOND;
  }

  /** Time until a token is available. */
  retryMs(now: number): number {
    const missing = Math.max(0, 1 - this.leftIn(now));
    return (missing / this.perSecond) * MS_PER_SECOND;
  }

  private get perSecond(): number {
    return this.capacity * REFILL_PER_SECOND;
  }

  private leftIn(now: number): number {
    if (this.leftAt === -Infinity) return this.left;
    const refill = ((now - this.leftAt) / MS_PER_SECOND) * this.perSecond;
    return Math.min(this.capacity, this.left + refill);
  }

  private usable(now: number): number {
    let tokens = 0;
    for (const share of this.shares) if (share.usableUntil > now) tokens += share.tokens;
    return tokens;
  }
}

/** Tokens that were taken together. */
interface Share {
  tokens: number;
  /** Time of the database. */
  readonly takenAt: string;
  readonly usableUntil: number;
}

/** Rest of shares. */
export interface Returned {
  readonly tokens: number;
  /** Time of the database at which the oldest share was taken. */
  readonly takenAt: string;
}
