/** Measures the start-up of the command-line client; see README.md. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { judge } from './support/goals.js';
import { parseCount } from './support/options.js';
import { noteStart, publish } from './support/results.js';
import type { Result } from './support/results.js';
import { median, percentile } from './support/statistics.js';
import { formatNumber, markdownTable } from './support/table.js';

const CLIENT = join(import.meta.dirname, '../cli/bin/mintkeep.js');
const COMMANDS = ['--version', '--help', 'completion bash'];
const FULL = { rounds: '20' };
const QUICK = { rounds: '3' };
const GOAL = {
  figure: 'start-up (`mintkeep --version`), median',
  direction: 'at most',
  limit: 150,
  unit: 'ms',
} as const;

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    output: { type: 'string' },
  },
});
const rounds = parseCount('rounds', options.rounds ?? (options.quick ? QUICK : FULL).rounds);

function measureAll(): Result {
  const measured = COMMANDS.map((command) => ({ command, times: measure(command.split(' ')) }));
  const rows = measured.map(({ command, times }) => {
    const slowest = percentile(Float64Array.from(times).sort(), 1);
    return [`\`mintkeep ${command}\``, formatNumber(median(times)), formatNumber(slowest)];
  });
  const text = markdownTable(['command', 'median ms', 'slowest ms'], rows);
  return { goals: [judge(GOAL, median(measured[0]!.times))], sections: [{ title: 'Start-up', text }] };
}

/** Times of a command in milliseconds. The first run, which fills the caches of the file system, does not count. */
function measure(args: readonly string[]): number[] {
  run(args);
  return Array.from({ length: rounds }, () => {
    const start = performance.now();
    run(args);
    return performance.now() - start;
  });
}

/** @throws Error if the command fails */
function run(args: readonly string[]): void {
  const { status, stderr } = spawnSync(process.execPath, [CLIENT, ...args], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`mintkeep ${args.join(' ')} failed: ${stderr}`);
}

const start = noteStart();
const publication = {
  name: 'cli',
  title: 'The command-line client',
  parameters: `${rounds} rounds`,
  versions: {},
  isComplete: rounds >= Number(FULL.rounds),
  output: options.output,
};
await publish(publication, start, measureAll());
