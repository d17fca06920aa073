import { randomUUID } from 'node:crypto';
import { chmod, mkdir, open, realpath, rename, rm, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { CliError, errorCode } from '../errors.js';
import { quoteIfNeeded } from '../shell/quote.js';
import { withLock } from './file-lock.js';
import { configFolder, credentialsPath } from './paths.js';
import { NO_PROFILES, parseProfiles } from './profile.js';
import type { Profiles } from './profile.js';

const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
const OTHERS = 0o077;

/**
 * Reads all profiles.
 * @throws CliError if others may read the file, or if it cannot be read
 */
export async function readProfiles(): Promise<Profiles> {
  const path = credentialsPath();
  const text = await readPrivate(path);
  if (text === undefined) return NO_PROFILES;
  const profiles = parseProfiles(text);
  if (profiles) return profiles;
  throw new CliError(`${path} is damaged`, `remove it and run "mintkeep login"`);
}

/** Changes the profiles. Other processes see either the old or the new file. @throws CliError */
export async function changeProfiles(change: (profiles: Profiles) => Profiles): Promise<void> {
  try {
    await preparePrivateFolder();
    await withLock(credentialsPath(), async () => write(change(await readProfiles())));
  } catch (error) {
    throw toCliError(error, configFolder());
  }
}

/** Creates the folder, and withdraws the permissions of others. */
async function preparePrivateFolder(): Promise<void> {
  const folder = configFolder();
  await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
  if (process.platform === 'win32') return;
  if ((await stat(folder)).mode & OTHERS) await chmod(folder, FOLDER_MODE);
}

async function readPrivate(path: string): Promise<string | undefined> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, 'r');
    const { mode } = await file.stat();
    if (process.platform !== 'win32' && (mode & OTHERS) !== 0) throw new TooManyPermissions(path, mode);
    return await file.readFile('utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw toCliError(error, path);
  } finally {
    await file?.close();
  }
}

async function write(profiles: Profiles): Promise<void> {
  // A link, such as one into a folder of dotfiles, stays a link.
  const path = await realpath(credentialsPath()).catch(() => credentialsPath());
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    const file = await open(temporary, 'wx', FILE_MODE);
    try {
      await file.writeFile(JSON.stringify(profiles, undefined, 2) + '\n');
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Other users may read or change the file. */
class TooManyPermissions extends CliError {
  constructor(path: string, mode: number) {
    const octal = (mode & 0o777).toString(8);
    super(`${path} is open to other users (mode ${octal})`, `run: chmod 600 ${quoteIfNeeded(path)}`);
  }
}

function toCliError(error: unknown, path: string): unknown {
  const code = errorCode(error);
  if (error instanceof CliError || code === undefined) return error;
  return new CliError(`${path} cannot be used (${code})`, 'check its permissions and the space on the disk');
}
