import type { Replica } from './replica.js';

export type DisturbanceKind = 'postgres' | 'store' | 'kill' | 'terminate';

interface Period {
  readonly kind: DisturbanceKind;
  /** The affected replica. */
  readonly replica?: Replica;
  readonly beganAt: number;
  endedAt: number;
}

/** Requests that begin within this time after a disturbance may still use a connection from before. */
const SETTLING_MS = 5_000;

/** Periods of the disturbances, in times of `performance.now()`. */
export class Timeline {
  private readonly periods: Period[] = [];

  /** Runs a disturbance and resolves when it and its effects are over. */
  async disturb(kind: DisturbanceKind, run: () => Promise<void>, replica?: Replica): Promise<void> {
    const period = { kind, replica, beganAt: performance.now(), endedAt: Infinity };
    this.periods.push(period);
    console.log(`${new Date().toISOString()} ${kind} ${replica?.name ?? ''}`);
    await run();
    period.endedAt = performance.now();
  }

  /** Whether a disturbance of these kinds was active since a time; with a replica, one that affected it. */
  wasDisturbed(time: number, kinds: readonly DisturbanceKind[], replica?: Replica): boolean {
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
