import { migrateDatabase } from '../database/database.module.js';
import { DONE } from './command.js';
import type { Command } from './command.js';

export const migrateCommand: Command = {
  name: 'migrate',
  summary: 'migrates the database, as every start does; waits while a replica migrates',
  async run({ databaseUrl, print }) {
    const names = await migrateDatabase(databaseUrl, print);
    for (const name of names) print(name);
    print(names.length === 0 ? 'the database is up to date' : `${names.length} migrations run`);
    return DONE;
  },
};
