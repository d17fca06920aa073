import { constants, readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';

const { O_DIRECTORY, O_RDONLY } = constants;

/** Makes renames, new and removed entries of a folder survive a crash of the machine. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, O_RDONLY | O_DIRECTORY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** The text of a file; undefined when there is none. */
export function readUnlessAbsent(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
