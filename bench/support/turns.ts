import { median } from './statistics.js';

/** The figures of one subject, round by round. A turn that failed is undefined. */
export type Rounds<Figures> = readonly (Figures | undefined)[];

export interface Turns<Name extends string, Figures> {
  readonly rounds: Readonly<Record<Name, Rounds<Figures>>>;
  /** Descriptions of the turns that failed. */
  readonly failures: readonly string[];
}

/**
 * Measures every subject once in each round; the subject that begins changes from round to round. A turn that fails,
 * for example because a busy machine cannot hold the rate, is reported and leaves a gap; the other turns go on.
 */
export async function takeTurns<Name extends string, Figures>(
  rounds: number,
  names: readonly Name[],
  measure: (name: Name, round: number) => Promise<Figures>,
): Promise<Turns<Name, Figures>> {
  const results = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<
    Name,
    (Figures | undefined)[]
  >;
  const failures: string[] = [];
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < names.length; i++) {
      const name = names[(round + i) % names.length]!;
      const turn = `${name}, round ${round + 1}`;
      results[name].push(await tolerate(turn, () => measure(name, round), failures));
    }
  }
  return { rounds: results, failures };
}

/** Runs a task. A failure is printed, added to `failures`, and leaves the result undefined. */
export async function tolerate<Result>(
  what: string,
  task: () => Promise<Result>,
  failures: string[] = [],
): Promise<Result | undefined> {
  try {
    return await task();
  } catch (error) {
    const failure = `${what}: ${error instanceof Error ? error.message : String(error)}`;
    console.error(failure);
    failures.push(failure);
    return undefined;
  }
}

/** The figures of the turns that did not fail. */
function completedRounds<Figures>(rounds: Rounds<Figures>): Figures[] {
  return rounds.filter((figures) => figures !== undefined);
}

/** The median over the rounds; NaN if every turn failed. */
export function medianOfRounds<Figures>(
  rounds: Rounds<Figures>,
  value: (figures: Figures) => number,
): number {
  return median(completedRounds(rounds).map(value));
}

/**
 * Compares two subjects within each round, and takes the median of the comparisons. Drift of the machine between rounds
 * then cancels out. NaN if no round has figures of both.
 */
export function medianOfPairs<Figures>(
  rounds: Rounds<Figures>,
  reference: Rounds<Figures>,
  compare: (figures: Figures, reference: Figures) => number,
): number {
  const pairs = rounds.flatMap((figures, round) => {
    const other = reference[round];
    return figures === undefined || other === undefined ? [] : [compare(figures, other)];
  });
  return median(pairs);
}

/** The median of the ratios of one figure. */
export function medianRatio<Figures>(
  rounds: Rounds<Figures>,
  reference: Rounds<Figures>,
  value: (figures: Figures) => number,
): number {
  return medianOfPairs(rounds, reference, (figures, other) => value(figures) / value(other));
}

/** Such as `2 of 3`: how many turns of a subject succeeded. */
export function describeRounds(rounds: Rounds<unknown>): string {
  return `${completedRounds(rounds).length} of ${rounds.length}`;
}
