import { describeRounds } from '../support/turns.js';
import type { Turns } from '../support/turns.js';
import type { Goal, JudgedGoal } from '../support/goals.js';
import { markdownTable } from '../support/table.js';
import type { Section } from '../support/results.js';
import type { Lab } from './lab.js';
import type { Options } from './options.js';

/** A part of the benchmark. The goals are listed apart, so that they appear in the table even if it fails. */
export interface Figure {
  readonly goals: readonly Goal[];
  measure(lab: Lab, options: Options): Promise<Measured>;
}

export interface Measured {
  readonly goals: readonly JudgedGoal[];
  readonly section: Section;
}

/** A section with one row per subject, with the number of successful turns, and with the failures. */
export function turnsSection<Name extends string, Figures>(
  title: string,
  columns: readonly string[],
  { rounds, failures }: Turns<Name, Figures>,
  cells: (name: Name) => readonly string[],
): Section {
  const names = Object.keys(rounds) as Name[];
  const rows = names.map((name) => [name, ...cells(name), describeRounds(rounds[name])]);
  const table = markdownTable(['', ...columns, 'successful rounds'], rows);
  const list = failures.map((failure) => `- ${failure.replaceAll('\n', ' ')}`).join('\n');
  return { title, text: failures.length > 0 ? `${table}\n\nFailed turns:\n\n${list}` : table };
}
