import { describeMachine } from '../support/machine.js';
import { markdownTable, number } from '../support/table.js';
import type { Ledger } from './ledger.js';
import type { MemoryOfReplica } from './memory-watch.js';
import type { Timeline } from './timeline.js';

export interface Run {
  readonly minutes: number;
  readonly actors: number;
  readonly postgresVersion: string;
  readonly memory: readonly MemoryOfReplica[];
  /** Of replicas that ended before they listened. */
  readonly failedStarts: number;
}

/** What happened, as markdown. */
export function report(run: Run, ledger: Ledger, timeline: Timeline): string {
  const { minutes, actors, postgresVersion, memory } = run;
  const date = new Date().toISOString().slice(0, 10);
  return [
    `${date}, ${describeMachine()}, PostgreSQL ${postgresVersion}; ${minutes} minutes, ${actors} actors.`,
    `Disturbances: PostgreSQL stopped ${timeline.count('postgres')} times for 20 s, the object store stalled ` +
      `${timeline.count('store')} times for 15 s, a replica killed ${timeline.count('kill')} times and told to stop ` +
      `${timeline.count('terminate')} times; ${run.failedStarts} starts failed and were tried again.`,
    markdownTable(
      ['calls', 'answered', 'refused (5xx, excused)', 'broken'],
      [...ledger.tallies].map(([kind, { answered, refused, broken }]) => [
        kind,
        ...[answered, refused, broken].map((count) => number(count)),
      ]),
    ),
    markdownTable(
      ['what has to hold', 'times checked'],
      [...ledger.checks].map(([what, times]) => [what, number(times)]),
    ),
    memoryTable(memory),
    `Findings: ${ledger.findings.length === 0 ? 'none.' : ledger.findings.length}`,
    ...ledger.findings.slice(0, 100).map((finding) => `- ${finding}`),
  ].join('\n\n');
}

function memoryTable(memory: readonly MemoryOfReplica[]): string {
  const columns = ['replica', 'longest life', 'samples', 'heap MiB by thirds', 'MiB an hour'];
  return markdownTable(
    [...columns, 'most heap MiB in any life', 'RSS MiB at the end'],
    memory.map(({ replica, minutes, samples, thirds, slope, heapMax, rss }) => [
      replica,
      `${number(minutes, 1)} min`,
      number(samples),
      thirds.map((third) => number(third, 1)).join(' → '),
      ...[slope, heapMax, rss].map((value) => number(value, 1)),
    ]),
  );
}
