/** Results of the calls of one kind. */
export interface Tally {
  /** An expected status. */
  expected: number;
  /** An unexpected status, such as a 5xx during a disturbance: the effect of the call is unknown. */
  failed: number;
  /** A broken connection, such as during the end of a replica: the effect of the call is unknown. */
  interrupted: number;
}

const MAX_PRINTED_FINDINGS = 20;

/** Counts calls and checks, and collects the findings. */
export class Ledger {
  readonly tallies = new Map<string, Tally>();
  /** Number of checks by rule. */
  readonly checks = new Map<string, number>();
  readonly findings: string[] = [];

  count(kind: string, result: keyof Tally): void {
    const tally = this.tallies.get(kind) ?? { expected: 0, failed: 0, interrupted: 0 };
    tally[result]++;
    this.tallies.set(kind, tally);
  }

  /** Counts a check, and adds a finding if the rule is violated. */
  check(rule: string, isKept: boolean, detail = ''): void {
    this.checks.set(rule, (this.checks.get(rule) ?? 0) + 1);
    if (!isKept) this.addFinding(`violated: ${rule}: ${detail}`);
  }

  addFinding(finding: string): void {
    this.findings.push(`${new Date().toISOString()} ${finding}`);
    if (this.findings.length <= MAX_PRINTED_FINDINGS) console.error(`finding: ${finding}`);
  }
}
