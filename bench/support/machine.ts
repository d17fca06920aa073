import { spawnSync } from 'node:child_process';
import { cpus, loadavg, release, totalmem } from 'node:os';

const CORES_NEEDED = 2;

/** Pins this process, all its threads and every process that it starts later to one core. */
export function pinSelf(core: number): void {
  if (cpus().length < CORES_NEEDED) throw new Error(`the benchmarks need at least ${CORES_NEEDED} cores`);
  requireProgram('taskset', 'util-linux');
  const { status, stderr } = spawnSync('taskset', ['-a', '-c', '-p', String(core), String(process.pid)]);
  if (status !== 0) throw new Error(`taskset failed: ${String(stderr)}`);
}

/** @throws Error that names the Debian package of the missing program */
export function requireProgram(program: string, debianPackage: string): void {
  const { error } = spawnSync(program, ['--version']);
  if (error) throw new Error(`${program} is required: apt-get install ${debianPackage}`);
}

/** Cores, CPU model, memory and kernel. */
export function describeMachine(): string {
  const { model } = cpus()[0]!;
  const memoryGib = (totalmem() / 2 ** 30).toFixed(1);
  return `${cpus().length} cores, ${model.trim()}, ${memoryGib} GiB memory, Linux ${release()}`;
}

/** Load average of the last minute. A value well above 0 before a run means that other programs disturb it. */
export function loadAverage(): string {
  return loadavg()[0]!.toFixed(2);
}
