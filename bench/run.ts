/**
 * Runs a benchmark with the reference version of Node: `tsx bench/run.ts NAME [--node 24|current|PATH] [options]`.
 * The load generator, the service, Portkey and the mock upstreams then all run with that version.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { findNode } from './support/reference-node.js';

const [name, ...args] = process.argv.slice(2);
const { choice, rest } = takeNodeOption(args);
const program = findNode(choice);

const child = spawn(program, ['--import', 'tsx', join(import.meta.dirname, `${name}.ts`), ...rest], {
  stdio: 'inherit',
  env: { ...process.env, BENCH_COMMAND: describeCommand() },
});
// The benchmark removes its processes and files before it ends, so the launcher must not end first.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
const [code] = (await once(child, 'exit')) as [number | null];
process.exitCode = code ?? 1;

/** Separates `--node` from the options of the benchmark. */
function takeNodeOption(all: readonly string[]): { choice: string; rest: string[] } {
  const { tokens } = parseArgs({
    args: [...all],
    options: { node: { type: 'string' } },
    strict: false,
    tokens: true,
  });
  const option = tokens.find((token) => token.kind === 'option' && token.name === 'node');
  if (option?.kind !== 'option') return { choice: '24', rest: [...all] };
  const length = option.inlineValue ? 1 : 2;
  return { choice: option.value ?? '', rest: all.toSpliced(option.index, length) };
}

function describeCommand(): string {
  const script = name === 'soak' ? 'soak' : `bench:${name}`;
  return [`npm run ${script}`, ...(args.length > 0 ? ['--', ...args] : [])].join(' ');
}
