import { readFileSync } from 'node:fs';
import { Command } from 'commander';

/** Creates the definition of the command line. Actions import their modules on demand, so that `--help` is fast. */
export function createProgram(): Command {
  return new Command('mintkeep')
    .description('Gets a proxy key of a mintkeep service by device flow, and puts it to use.')
    .version(ownVersion());
}

function ownVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
