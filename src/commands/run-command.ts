import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseSettings } from '../config/parse-settings.js';
import { startEmbeddedPostgres } from '../database/embedded/embedded-postgres.js';
import { DONE } from './command.js';
import type { Command, CommandContext } from './command.js';
import { migrateCommand } from './migrate.command.js';
import { rotateEncryptionCommand } from './rotate-encryption.command.js';
import { verifyStorageCommand } from './verify-storage.command.js';

const COMMANDS = [migrateCommand, verifyStorageCommand, rotateEncryptionCommand];
const HELP = ['--help', '-h', 'help'];

/**
 * Does what the arguments of the command line say, with the settings of the service.
 * @param print writes a line of the result
 * @returns the exit code
 * @throws Error with a message for the operator when it could not be done
 */
export async function runCommand(
  [name = '', ...rest]: readonly string[],
  variables: NodeJS.ProcessEnv,
  print: CommandContext['print'],
): Promise<number> {
  if ([name, ...rest].some((argument) => HELP.includes(argument))) {
    print(usage());
    return DONE;
  }
  const command = COMMANDS.find((candidate) => candidate.name === name);
  if (!command) throw new Error(`${name === '' ? 'no command' : `unknown command ${name}`}\n\n${usage()}`);
  const flags = readFlags(command, rest);
  const settings = parseSettings(variables);
  const { databaseUrl, dataDir } = settings;
  if (databaseUrl === undefined && command !== migrateCommand) assertHasDatabase(dataDir);
  const embedded = databaseUrl === undefined ? await startEmbeddedPostgres({ dataDir }) : undefined;
  try {
    return await command.run({ settings, databaseUrl: databaseUrl ?? embedded!.url, flags, print });
  } finally {
    await embedded?.stop();
  }
}

/** To look at a database that was just made, because of a folder that is not the one, would find nothing wrong. */
function assertHasDatabase(dataDir: string): void {
  if (existsSync(join(dataDir, 'postgres'))) return;
  throw new Error(`there is no database in ${dataDir}, which DATA_DIR names`);
}

function readFlags({ name, flags = {} }: Command, given: readonly string[]): Set<string> {
  const unknown = given.find(
    (argument) => !argument.startsWith('--') || !Object.hasOwn(flags, argument.slice(2)),
  );
  if (unknown !== undefined) throw new Error(`${name} does not take ${unknown}\n\n${usage()}`);
  return new Set(given.map((argument) => argument.slice(2)));
}

function usage(): string {
  const lines = COMMANDS.flatMap(({ name, summary, flags = {} }) => [
    `  ${name.padEnd(18)} ${summary}`,
    ...Object.entries(flags).map(([flag, meaning]) => `    ${`--${flag}`.padEnd(16)} ${meaning}`),
  ]);
  return ['usage: node dist/cli.js <command>, with the settings of the service', ...lines].join('\n');
}
