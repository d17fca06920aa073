import type { Level, LevelLimits } from '../rules/applied-limits.js';
import { REFILL_PER_SECOND } from './take-statement.js';
import { Shares } from './shares.js';
import type { Returned } from './shares.js';
import type { TakenRow } from './take-statement.js';

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
  private readonly shares = new Shares();
  /** Tokens at {@link leftAt}, by this replica's count. */
  private left: number;
  private leftAt = -Infinity;
  /** Tokens in the database at {@link storedAt}. Differ from {@link left} by the uses without the database. */
  private stored: number;
  private storedAt = -Infinity;
  /** Time until which the bucket is known to be empty. */
  private emptyUntil = -Infinity;
  private usesNow = 0;
  private usesBefore = 0;

  constructor(private limits: LevelLimits) {
    this.left = this.capacity;
    this.stored = this.capacity;
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
    return !this.shares.isEmpty;
  }

  hasToken(now: number): boolean {
    return this.shares.tokens(now) > 0;
  }

  /** Whether the database had no token at the last take, and has none yet. */
  isEmpty(now: number): boolean {
    return now < this.emptyUntil;
  }

  /** Uses a token; {@link hasToken} must be true. The oldest share is used first. */
  use(now: number): void {
    this.onDemand(now);
    this.shares.use(now);
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
    return Math.max(0, Math.floor(ahead) - this.shares.tokens(now));
  }

  /** Removes empty and old shares. @returns the rest of these, for the database */
  removeOldShares(now: number): Returned | undefined {
    return this.shares.removeOld(now, RETURN_AFTER_MS);
  }

  /** Removes all shares. @returns the rest of these, for the database */
  removeShares(now: number): Returned | undefined {
    return this.shares.removeOld(now, 0);
  }

  /** @param sentAt time at which the statement was sent */
  onTaken({ granted, tokens, taken_at: takenAt }: TakenRow, sentAt: number, now: number): void {
    if (granted > 0) this.shares.add(granted, takenAt, sentAt);
    this.left = tokens - this.debt(now); // of requests that did not wait for this statement
    this.leftAt = now;
    this.stored = tokens;
    this.storedAt = now;
    const missing = ALMOST_ONE - tokens;
    this.emptyUntil = missing > 0 ? now + (missing / this.perSecond) * MS_PER_SECOND : -Infinity;
  }

  /** Whether there is a token by this replica's own count, which goes on from the last known level. */
  hasOwnToken(now: number): boolean {
    return this.leftIn(now) + this.shares.tokens(now) >= ALMOST_ONE;
  }

  /** Uses a token without the database; {@link hasOwnToken} must be true. */
  useOwn(now: number): void {
    this.usedAt = now;
    this.left = this.leftIn(now) + this.shares.tokens(now) - 1;
    this.leftAt = now;
    this.shares.clear();
    this.emptyUntil = -Infinity;
  }

  /** Whole tokens that were used without the database, less the refill since. */
  debt(now: number): number {
    const stored = this.refilled(this.stored, this.storedAt, now);
    return Math.max(0, Math.ceil(stored - this.leftIn(now) + ALMOST_ONE - 1));
  }

  /** Settles the debt with the next statement. @returns the tokens to subtract */
  payDebt(now: number): number {
    const debt = this.debt(now);
    if (debt > 0) this.addStored(-debt, now);
    return debt;
  }

  /** Restores a debt whose statement failed. */
  onDebtUnpaid(debt: number, now: number): void {
    if (debt > 0) this.addStored(debt, now);
  }

  private addStored(tokens: number, now: number): void {
    this.stored = this.refilled(this.stored, this.storedAt, now) + tokens;
    this.storedAt = now;
  }

  /** Requests that may follow at once, as far as this replica knows. */
  remaining(now: number): number {
    return Math.floor(Math.min(this.capacity, this.leftIn(now) + this.shares.tokens(now)) + 1 - ALMOST_ONE);
  }

  /** Time until the bucket is full. */
  resetMs(now: number): number {
    const missing = this.capacity - Math.min(this.capacity, this.leftIn(now) + this.shares.tokens(now));
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
    return this.refilled(this.left, this.leftAt, now);
  }

  /** Adds the refill since a time to a number of tokens; a bucket that was never taken from is full. */
  private refilled(tokens: number, since: number, now: number): number {
    if (since === -Infinity) return this.capacity;
    return Math.min(this.capacity, tokens + ((now - since) / MS_PER_SECOND) * this.perSecond);
  }
}
