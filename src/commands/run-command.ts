import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { parseSettings } from '../config/parse-settings.js';
import type { Settings } from '../config/settings.js';
import { dataSourceOptions } from '../database/data-source.js';
import { connected } from '../database/database.module.js';
import { startEmbeddedPostgres } from '../database/embedded/embedded-postgres.js';
import { hasSchema } from '../database/migrate.js';
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
  const mayMake = command === migrateCommand;
  const { databaseUrl, stop } = await openDatabase(settings, mayMake);
  try {
    if (!mayMake) await assertHasSchema(databaseUrl, settings);
    return await command.run({ settings, databaseUrl, flags, print });
  } finally {
    await stop();
  }
}

interface OpenDatabase {
  readonly databaseUrl: string;
  readonly stop: () => Promise<void>;
}

/** Starts the embedded one where no other is set; makes it only if told so. */
async function openDatabase({ databaseUrl, dataDir }: Settings, mayMake: boolean): Promise<OpenDatabase> {
  if (databaseUrl !== undefined) return { databaseUrl, stop: () => Promise.resolve() };
  if (!mayMake) assertHasDatabase(dataDir);
  const embedded = await startEmbeddedPostgres({ dataDir });
  return { databaseUrl: embedded.url, stop: () => embedded.stop() };
}

/** To look at a database that was just made, because of a folder that is not the one, would find nothing wrong. */
function assertHasDatabase(dataDir: string): void {
  if (existsSync(join(dataDir, 'postgres'))) return;
  throw new Error(`there is no database in ${dataDir}, which DATA_DIR names`);
}

/** Of a database that has nothing of ours, all that is stored would be superfluous. */
async function assertHasSchema(url: string, { databaseUrl }: Settings): Promise<void> {
  const dataSource = await connected(new DataSource(dataSourceOptions(url)));
  try {
    if (await hasSchema(dataSource)) return;
  } finally {
    await dataSource.destroy();
  }
  const setting = databaseUrl === undefined ? 'DATA_DIR' : 'DATABASE_URL';
  throw new Error(
    `the database that ${setting} names has no tables of mintkeep; if it is to have them, run migrate first`,
  );
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
