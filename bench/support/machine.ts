import { spawnSync } from 'node:child_process';
import { cpus, release } from 'node:os';

/** Puts this process, all its threads and everything it starts from now on, on one core. */
export function pinSelf(core: number): void {
  const { status, stderr } = spawnSync('taskset', ['-a', '-c', '-p', String(core), String(process.pid)]);
  if (status !== 0) throw new Error(`taskset (of util-linux) is needed: ${String(stderr)}`);
}

/** What the figures were measured on. */
export function describeMachine(): string {
  const { model } = cpus()[0]!;
  return `${cpus().length} cores (${model.trim()}), Linux ${release()}, Node ${process.versions.node}`;
}
