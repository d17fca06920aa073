import { markdownTable } from '../support/table.js';

/** One goal of the proxy and what was measured. */
export interface Goal {
  readonly figure: string;
  readonly goal: string;
  readonly measured: string;
  readonly met: boolean;
}

/** What measuring one thing brought. */
export interface Figures {
  readonly goals: readonly Goal[];
  /** The figures themselves, as markdown. */
  readonly details: string;
}

export function goalTable(goals: readonly Goal[]): string {
  const rows = goals.map(({ figure, goal, measured, met }) => [figure, goal, measured, met ? 'yes' : 'no']);
  return markdownTable(['', 'goal', 'measured', 'met'], rows, 1);
}

export function atMost(figure: string, limit: number, value: number, unit: string): Goal {
  return {
    figure,
    goal: `≤ ${short(limit)}${unit}`,
    measured: `${short(value)}${unit}`,
    met: value <= limit,
  };
}

export function atLeast(figure: string, limit: number, value: number, unit: string): Goal {
  return {
    figure,
    goal: `≥ ${short(limit)}${unit}`,
    measured: `${short(value)}${unit}`,
    met: value >= limit,
  };
}

function short(value: number): string {
  return value.toFixed(Math.abs(value) < 10 ? 2 : 1);
}
