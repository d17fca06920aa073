import { rm, stat, writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { CliError, errorCode } from '../errors.js';

const RETRY_MS = 25;
const TIMEOUT_MS = 10_000;
/** A process holds the lock for milliseconds. An older lock belongs to a process that was killed. */
const STALE_MS = 5_000;

/** Runs `work` while no other process changes the file. @throws CliError if the lock does not become free */
export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const lock = `${path}.lock`;
  const deadline = Date.now() + TIMEOUT_MS;
  while (!(await tryToLock(lock))) {
    if (Date.now() > deadline) throw new FileIsLocked(lock);
    await pause(RETRY_MS);
  }
  try {
    return await work();
  } finally {
    await rm(lock, { force: true });
  }
}

async function tryToLock(lock: string): Promise<boolean> {
  try {
    await writeFile(lock, '', { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
    await removeIfStale(lock);
    return false;
  }
}

async function removeIfStale(lock: string): Promise<void> {
  const { mtimeMs } = await stat(lock).catch(() => ({ mtimeMs: Date.now() }));
  if (Date.now() - mtimeMs > STALE_MS) await rm(lock, { force: true });
}

/** Another process has not released the lock in time. */
class FileIsLocked extends CliError {
  constructor(lock: string) {
    super(
      `another mintkeep is changing the credentials (${lock} exists)`,
      'try again, or remove the file if no other mintkeep runs',
    );
  }
}
