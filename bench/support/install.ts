import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Installs the locked dependencies of a folder of the benchmarks, unless `program` is already in it. */
export function installOnce(folder: string, program: string): void {
  if (existsSync(join(folder, program))) return;
  console.log(`installing the packages of ${folder}`);
  const { status } = spawnSync('npm', ['ci', '--ignore-scripts'], { cwd: folder, stdio: 'inherit' });
  if (status !== 0) throw new Error(`npm ci failed in ${folder}`);
}
