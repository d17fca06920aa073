import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { parseSettings } from '../config/parse-settings.js';
import type { Settings } from '../config/settings.js';
import { dataSourceOptions } from '../database/connection/data-source.js';
import { connect } from '../database/database.module.js';
import { startEmbeddedPostgres } from '../embedded-postgres/embedded-postgres.js';
import { hasSchema } from '../database/migrate.js';
import { DONE } from './command.js';
import type { Command, CommandContext } from './command.js';
import { migrateCommand } from './migrate.command.js';
import { rotateEncryptionCommand } from './rotate-encryption.command.js';
import { verifyStorageCommand } from './verify-storage.command.js';

const COMMANDS = [migrateCommand, verifyStorageCommand, rotateEncryptionCommand];
const HELP = ['--help', '-h', 'help'];

/**
 * Runs the command that the arguments name, with the settings of the service.
 * @param print writes a line of the result
 * @returns the exit code
 * @throws Error with a message for the operator if the command fails
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
  const mayCreate = command === migrateCommand;
  const { databaseUrl, stop } = await openDatabase(settings, mayCreate);
  try {
    if (!mayCreate) await assertHasSchema(databaseUrl, settings);
    return await command.run({ settings, databaseUrl, flags, print });
  } finally {
    await stop();
  }
}

interface OpenDatabase {
  readonly databaseUrl: string;
  readonly stop: () => Promise<void>;
}

/** Starts the embedded PostgreSQL if no other is set. @param mayCreate whether a missing database is created */
async function openDatabase({ databaseUrl, dataDir }: Settings, mayCreate: boolean): Promise<OpenDatabase> {
  if (databaseUrl !== undefined) return { databaseUrl, stop: () => Promise.resolve() };
  if (!mayCreate) assertHasDatabase(dataDir);
  const embedded = await startEmbeddedPostgres({ dataDir });
  return { databaseUrl: embedded.url, stop: () => embedded.stop() };
}

/** Rejects a mistyped `DATA_DIR`. A check of a newly created, empty database would find nothing wrong. */
function assertHasDatabase(dataDir: string): void {
  if (existsSync(join(dataDir, 'postgres'))) return;
  throw new Error(`DATA_DIR ${dataDir} contains no database`);
}

/** Rejects a database without the tables of mintkeep, for which every stored object would be an orphan. */
async function assertHasSchema(url: string, { databaseUrl }: Settings): Promise<void> {
  const dataSource = await connect(new DataSource(dataSourceOptions(url)));
  try {
    if (await hasSchema(dataSource)) return;
  } finally {
    await dataSource.destroy();
  }
  const setting = databaseUrl === undefined ? 'DATA_DIR' : 'DATABASE_URL';
  throw new Error(`the database of ${setting} has no tables of mintkeep; to create them, run migrate first`);
}

function readFlags({ name, flags = {} }: Command, given: readonly string[]): Set<string> {
  const unknown = given.find(
    (argument) => !argument.startsWith('--') || !Object.hasOwn(flags, argument.slice(2)),
  );
  if (unknown !== undefined) throw new Error(`unknown argument ${unknown} of ${name}\n\n${usage()}`);
  return new Set(given.map((argument) => argument.slice(2)));
}

function usage(): string {
  const lines = COMMANDS.flatMap(({ name, summary, flags = {} }) => [
    `  ${name.padEnd(18)} ${summary}`,
    ...Object.entries(flags).map(([flag, meaning]) => `    ${`--${flag}`.padEnd(16)} ${meaning}`),
  ]);
  return ['usage: node dist/cli.js <command>, with the environment variables of the service', ...lines].join(
    '\n',
  );
}
