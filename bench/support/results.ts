import { spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { goalTable } from './goals.js';
import type { JudgedGoal } from './goals.js';
import { describeMachine, loadAverage } from './machine.js';
import { markdownTable } from './table.js';

export interface Section {
  readonly title: string;
  /** Markdown. */
  readonly text: string;
}

export interface Result {
  readonly goals: readonly JudgedGoal[];
  readonly sections: readonly Section[];
}

export interface Publication {
  /** File name in `bench/results`, without the extension. */
  readonly name: string;
  readonly title: string;
  /** Rounds, durations and the like. */
  readonly parameters: string;
  /** Versions of the other programs that took part, by name. */
  readonly versions: Readonly<Record<string, string>>;
  /** Whether the run measured everything in full. Other runs do not replace the stored result. */
  readonly isComplete: boolean;
  /** File to write instead. */
  readonly output?: string;
}

const FOLDER = join(import.meta.dirname, '../results');

/** Facts that have to be noted when a run begins. */
export interface RunStart {
  readonly startedAt: Date;
  readonly commit: string;
  readonly loadAverage: string;
}

/** Prints the Node version, so that a wrong one is noticed early, and notes the state of the machine. */
export function noteStart(): RunStart {
  const start = { startedAt: new Date(), commit: describeCommit(), loadAverage: loadAverage() };
  console.log(`Node ${process.versions.node}; ${describeMachine()}; load average ${start.loadAverage}`);
  return start;
}

/** Prints a result and writes it to `bench/results`, if the run was complete, or to the requested file. */
export async function publish(publication: Publication, start: RunStart, result: Result): Promise<void> {
  const markdown = toMarkdown(publication, start, result);
  console.log(`\n${markdown}`);
  const { name, output, isComplete } = publication;
  const file = output ?? (isComplete ? join(FOLDER, `${name}.md`) : undefined);
  if (file === undefined) {
    console.log(
      `This run was partial and does not replace bench/results/${name}.md; --output FILE stores it.`,
    );
    return;
  }
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, markdown);
  console.log(`written to ${file}`);
}

function toMarkdown(publication: Publication, start: RunStart, { goals, sections }: Result): string {
  const blocks = [
    `# ${publication.title}`,
    'Written by the benchmark; [README.md](../README.md) describes the figures.',
    environmentTable(publication, start),
    ...(goals.length > 0 ? ['## Goals', goalTable(goals)] : []),
    ...sections.flatMap(({ title, text }) => [`## ${title}`, text]),
  ];
  return `${blocks.join('\n\n')}\n`;
}

function environmentTable({ versions, parameters }: Publication, start: RunStart): string {
  const rows = {
    date: `${start.startedAt.toISOString().slice(0, 16).replace('T', ' ')} UTC`,
    command: `\`${process.env.BENCH_COMMAND ?? process.argv.slice(1).join(' ')}\``,
    parameters,
    commit: start.commit,
    Node: process.versions.node,
    ...versions,
    machine: describeMachine(),
    'load average before the run': start.loadAverage,
  };
  return markdownTable(['run', ''], Object.entries(rows), 2);
}

/** The abbreviated commit; `-dirty` is appended if files were changed. */
function describeCommit(): string {
  const { status, stdout } = spawnSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : 'unknown';
}
