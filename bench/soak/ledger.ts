/** What became of the calls of one kind. */
export interface Tally {
  /** Answered as it should be. */
  answered: number;
  /** 5xx while something was disturbed: what was asked for may have been done, or not. */
  refused: number;
  /** The connection broke while its replica was killed or told to stop: the same. */
  broken: number;
}

const SHOWN = 20;

/** Counts what happened, and keeps what must not happen. */
export class Ledger {
  readonly tallies = new Map<string, Tally>();
  /** How often something was held against what was promised, by what it was. */
  readonly checks = new Map<string, number>();
  readonly findings: string[] = [];

  count(kind: string, what: keyof Tally): void {
    const tally = this.tallies.get(kind) ?? { answered: 0, refused: 0, broken: 0 };
    tally[what]++;
    this.tallies.set(kind, tally);
  }

  /** A finding when it does not hold. */
  check(what: string, holds: boolean, detail = ''): void {
    this.checks.set(what, (this.checks.get(what) ?? 0) + 1);
    if (!holds) this.find(`not so: ${what} ${detail}`);
  }

  find(finding: string): void {
    this.findings.push(`${new Date().toISOString()} ${finding}`);
    if (this.findings.length <= SHOWN) console.error(`finding: ${finding}`);
  }
}
