import { judge } from '../support/goals.js';
import type { Result, Section } from '../support/results.js';
import { formatNumber, markdownTable } from '../support/table.js';
import type { Ledger } from './ledger.js';
import type { MemoryOfReplica } from './memory-watch.js';
import type { Timeline } from './timeline.js';

interface Run {
  readonly memory: readonly MemoryOfReplica[];
  /** Number of starts that ended before the replica listened. */
  readonly failedStarts: number;
}

const MAX_LISTED_FINDINGS = 100;

/** The result of a run; the only goal is that there are no findings. */
export function createReport(run: Run, ledger: Ledger, timeline: Timeline): Result {
  const goal = { figure: 'findings', direction: 'at most', limit: 0, unit: 'findings' } as const;
  return {
    goals: [judge(goal, ledger.findings.length)],
    sections: [
      { title: 'Disturbances', text: disturbanceTable(timeline, run.failedStarts) },
      { title: 'Calls', text: callTable(ledger) },
      { title: 'Checks', text: checkTable(ledger) },
      { title: 'Memory', text: memoryTable(run.memory) },
      ...findingSection(ledger),
    ],
  };
}

function disturbanceTable(timeline: Timeline, failedStarts: number): string {
  const rows = [
    ['PostgreSQL stopped for 20 s', timeline.count('postgres')],
    ['object store stalled for 15 s', timeline.count('store')],
    ['replica killed', timeline.count('kill')],
    ['replica stopped by SIGTERM', timeline.count('terminate')],
    ['failed starts of a replica, retried', failedStarts],
  ] as const;
  return markdownTable(
    ['disturbance', 'number'],
    rows.map(([name, count]) => [name, formatNumber(count)]),
  );
}

function callTable({ tallies }: Ledger): string {
  const rows = [...tallies].map(([kind, { expected, failed, interrupted }]) => [
    kind,
    ...[expected, failed, interrupted].map((count) => formatNumber(count)),
  ]);
  return markdownTable(['call', 'expected status', 'failed (5xx)', 'connection broken'], rows);
}

function checkTable({ checks }: Ledger): string {
  const rows = [...checks].map(([rule, count]) => [rule, formatNumber(count)]);
  return markdownTable(['rule', 'checks'], rows);
}

function memoryTable(memory: readonly MemoryOfReplica[]): string {
  const rows = memory.map(({ replica, minutes, samples, thirds, slope, heapMax, rss }) => [
    replica,
    `${formatNumber(minutes, 1)} min`,
    formatNumber(samples),
    thirds.map((third) => formatNumber(third, 1)).join(' → '),
    ...[slope, heapMax, rss].map((value) => formatNumber(value, 1)),
  ]);
  const columns = ['replica', 'longest life', 'samples', 'heap MiB by thirds', 'MiB per hour'];
  return markdownTable([...columns, 'maximum heap MiB of all lives', 'RSS MiB at the end'], rows);
}

function findingSection({ findings }: Ledger): Section[] {
  if (findings.length === 0) return [];
  const listed = findings.slice(0, MAX_LISTED_FINDINGS).map((finding) => `- ${finding}`);
  return [{ title: 'Findings', text: listed.join('\n') }];
}
