import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { installOnce } from './install.js';

const FOLDER = join(import.meta.dirname, '../node');

/**
 * Path of the Node program that runs a benchmark.
 *
 * The package `node` is not a development dependency: its `bin` would replace the Node of every npm script. Its platform
 * packages are installed in `bench/node` instead. They need no install script, and the lock file has their checksums.
 * @param choice `24` (the reference), `current` (the Node that runs this program), or a path
 */
export function findNode(choice: string): string {
  if (choice === 'current') return process.execPath;
  const program = choice === '24' ? installReferenceNode() : choice;
  if (!isNode(program)) {
    throw new Error(`--node must be 24, current or the path of a Node program: ${choice}`);
  }
  return program;
}

function isNode(program: string): boolean {
  if (program === '') return false;
  const { status, stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' });
  return status === 0 && /^v\d+\./.test(stdout);
}

function installReferenceNode(): string {
  const program = `node_modules/node-linux-${process.arch}/bin/node`;
  installOnce(FOLDER, program);
  return join(FOLDER, program);
}
