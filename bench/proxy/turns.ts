import { setTimeout as delay } from 'node:timers/promises';
import type { PinnedChild } from '../support/child.js';
import { median } from '../support/statistics.js';

const SETTLING_MS = 1_000;

/** All take their turn in every round, and who begins changes with the round. */
export async function takeTurns<Name extends string, Result>(
  rounds: number,
  names: readonly Name[],
  measure: (name: Name) => Promise<Result>,
): Promise<Record<Name, Result[]>> {
  const results = Object.fromEntries(names.map((name) => [name, [] as Result[]])) as Record<Name, Result[]>;
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < names.length; i++) {
      const name = names[(round + i) % names.length]!;
      results[name].push(await measure(name));
    }
  }
  return results;
}

/** The median of the ratios of the rounds: what drifts between rounds does not reach it. */
export function ratio<Result>(
  results: readonly Result[],
  reference: readonly Result[],
  value: (result: Result) => number,
): number {
  return median(results.map((result, i) => value(result) / value(reference[i]!)));
}

/** What the task costs the process in seconds of CPU, with the work that it leaves for the second after. */
export async function cpuOf<T>(child: PinnedChild, task: () => Promise<T>): Promise<[T, number]> {
  const before = child.cpuSeconds();
  const result = await task();
  await delay(SETTLING_MS);
  return [result, child.cpuSeconds() - before];
}
