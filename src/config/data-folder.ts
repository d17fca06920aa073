import { accessSync, constants, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Environment } from './environment.js';

/** Creates the data folder if it does not exist. Called last: a start that another setting stops leaves nothing behind. */
export function prepareDataFolder(env: Environment, path: string): void {
  try {
    createFolder(path);
    readdirSync(path);
    accessSync(path, constants.W_OK);
  } catch (error) {
    env.wrong('DATA_DIR', `cannot be used: ${(error as Error).message}`);
  }
  env.throwIfWrong();
}

/** Creates one level after the other: a recursive call below `/proc` never returns with Node 20. */
function createFolder(path: string): void {
  if (existsSync(path)) return;
  createFolder(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error; // another replica was first
  }
}
