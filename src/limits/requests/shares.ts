/** Time for which a replica uses a share, counted from before it was taken: shorter than `SHARE_SECONDS`. */
const SHARE_MS = 1_500;

/** Tokens of one bucket that this replica has taken. Times are those of `performance.now()`. */
export class Shares {
  private shares: Share[] = [];

  get isEmpty(): boolean {
    return this.shares.length === 0;
  }

  /** Number of tokens that can be used. */
  tokens(now: number): number {
    let tokens = 0;
    for (const share of this.shares) if (share.usableUntil > now) tokens += share.tokens;
    return tokens;
  }

  /**
   * Adds the tokens of one statement.
   * @param takenAt time of the database
   * @param sentAt time at which the statement was sent
   */
  add(tokens: number, takenAt: string, sentAt: number): void {
    this.shares.push({ tokens, takenAt, usableUntil: sentAt + SHARE_MS });
  }

  /** Uses a token of the oldest share. */
  use(now: number): void {
    for (const share of this.shares) {
      if (share.tokens === 0 || share.usableUntil <= now) continue;
      share.tokens--;
      return;
    }
  }

  /**
   * Removes empty shares, and old ones.
   * @param ageMs age from which a share is old
   * @returns the rest of the old ones that can still be used
   */
  removeOld(now: number, ageMs: number): Returned | undefined {
    const usable = this.shares.filter(({ tokens, usableUntil }) => tokens > 0 && usableUntil > now);
    const isOld = ({ usableUntil }: Share) => usableUntil - now <= SHARE_MS - ageMs;
    this.shares = usable.filter((share) => !isOld(share));
    const old = usable.filter(isOld);
    const tokens = old.reduce((sum, share) => sum + share.tokens, 0);
    return old[0] && { tokens, takenAt: old[0].takenAt };
  }

  clear(): void {
    this.shares = [];
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
