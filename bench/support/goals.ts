import { markdownTable } from './table.js';
import type { Rounds } from './turns.js';

export interface Goal {
  readonly figure: string;
  readonly direction: 'at most' | 'at least';
  readonly limit: number;
  /** Such as `× nginx` or `ms`. */
  readonly unit: string;
}

type Verdict = 'met' | 'missed' | 'not measured';

/** A row of the table of goals. */
export interface JudgedGoal {
  readonly figure: string;
  readonly goal: string;
  readonly measured: string;
  readonly verdict: Verdict;
}

/** Judges a measured value. */
export function judge(goal: Goal, value: number): JudgedGoal {
  const isMet = goal.direction === 'at most' ? value <= goal.limit : value >= goal.limit;
  return { ...describeGoal(goal), measured: withUnit(value, goal), verdict: isMet ? 'met' : 'missed' };
}

/**
 * Judges a value that was derived from several rounds. Without a value, the goal is missed if only the service failed,
 * and not measured if a reference failed as well.
 */
export function judgeRounds(
  goal: Goal,
  value: number,
  service: Rounds<unknown>,
  references: readonly Rounds<unknown>[],
): JudgedGoal {
  if (!Number.isNaN(value)) return judge(goal, value);
  const hasResult = (rounds: Rounds<unknown>) => rounds.some((figures) => figures !== undefined);
  if (hasResult(service) || !references.every(hasResult)) return notMeasured(goal);
  return { ...describeGoal(goal), measured: 'the service failed in every round', verdict: 'missed' };
}

export function notMeasured(goal: Goal): JudgedGoal {
  return { ...describeGoal(goal), measured: '–', verdict: 'not measured' };
}

export function goalTable(goals: readonly JudgedGoal[]): string {
  const rows = goals.map(({ figure, goal, measured, verdict }) => [figure, goal, measured, verdict]);
  return markdownTable(['figure', 'goal', 'measured', 'result'], rows);
}

function describeGoal(goal: Goal): { figure: string; goal: string } {
  const sign = goal.direction === 'at most' ? '≤' : '≥';
  return { figure: goal.figure, goal: `${sign} ${withUnit(goal.limit, goal)}` };
}

function withUnit(value: number, { unit }: Goal): string {
  const digits = Number.isInteger(value) ? 0 : Math.abs(value) < 10 ? 2 : 1;
  return `${value.toFixed(digits)} ${unit}`;
}
