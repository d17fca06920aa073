import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

const FOLDER = 'mintkeep';

/** Folder of the client's files. */
export function configFolder(): string {
  const { XDG_CONFIG_HOME = '', APPDATA = '' } = process.env;
  if (process.platform === 'win32') return join(APPDATA || join(homedir(), 'AppData', 'Roaming'), FOLDER);
  // The specification of XDG says to ignore relative paths.
  return join(isAbsolute(XDG_CONFIG_HOME) ? XDG_CONFIG_HOME : join(homedir(), '.config'), FOLDER);
}

/** File of all profiles, and of the keys that are not in a keyring. */
export function credentialsPath(): string {
  return join(configFolder(), 'credentials.json');
}
