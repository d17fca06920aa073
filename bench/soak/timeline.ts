import type { Replica } from './replica.js';

export type DisturbanceKind = 'postgres' | 'store' | 'kill' | 'terminate';

interface Period {
  readonly kind: DisturbanceKind;
  /** The one that it happens to. */
  readonly replica?: Replica;
  readonly beganAt: number;
  endedAt: number;
}

/** For requests that began after everything was well, and still meet a connection from before. */
const SETTLING_MS = 5_000;

/** What was disturbed when; times are those of `performance.now()`. */
export class Timeline {
  private readonly periods: Period[] = [];

  /** Comes back when the disturbance is over and its effects are. */
  async disturb(kind: DisturbanceKind, run: () => Promise<void>, replica?: Replica): Promise<void> {
    const period = { kind, replica, beganAt: performance.now(), endedAt: Infinity };
    this.periods.push(period);
    console.log(`${new Date().toISOString()} ${kind} ${replica?.name ?? ''}`);
    await run();
    period.endedAt = performance.now();
  }

  /** Whether something of these kinds went on at any time since; with a replica, to that one. */
  since(time: number, kinds: readonly DisturbanceKind[], replica?: Replica): boolean {
    return this.periods.some(
      (period) =>
        kinds.includes(period.kind) &&
        period.endedAt + SETTLING_MS >= time &&
        (replica === undefined || period.replica === replica),
    );
  }

  count(kind: DisturbanceKind): number {
    return this.periods.filter((period) => period.kind === kind).length;
  }
}
