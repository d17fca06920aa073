import { bringUpToDate } from '../database/database.module.js';
import { DONE } from './command.js';
import type { Command } from './command.js';

export const migrateCommand: Command = {
  name: 'migrate',
  summary: 'brings the database up to date, as every start does; waits for a replica that is at it',
  async run({ databaseUrl, print }) {
    const names = await bringUpToDate(databaseUrl, print);
    for (const name of names) print(name);
    print(names.length === 0 ? 'the database is up to date' : `${names.length} migrations run`);
    return DONE;
  },
};
