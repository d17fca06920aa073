import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
const MARK = '\n=== end of block ===\n';

/**
 * Runs blocks of shell commands one after the other in one shell. A command that fails ends the run.
 * @param variables the whole environment
 * @returns the standard output of each block
 */
export async function runBlocks(blocks: readonly string[], variables: NodeJS.ProcessEnv): Promise<string[]> {
  const script = blocks.map((block) => `${block}\nprintf '%s' '${MARK}'`).join('\n');
  const env = { PATH: process.env.PATH, ...variables };
  const { stdout } = await run('bash', ['-e', '-u', '-o', 'pipefail', '-c', script], { env });
  return stdout.split(MARK).slice(0, -1);
}
