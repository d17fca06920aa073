import { unzipSync } from 'fflate';
import { ArchiveError } from './archive-error';
import { crc32 } from './crc32';
import { readDirectory } from './directory';
import type { Entry } from './directory';

const MAX_UNPACKED_BYTES = 256 * 1024 * 1024;
/** Maximum number of files of an import. */
export const MAX_FILES = 10_000;

/** File of an import before anything is known about it. */
export interface RawFile {
  /** Path with `/`, relative to the dropped folder or archive. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

/**
 * Unpacks the files of an archive that are wanted. The others have no bytes.
 * @throws ArchiveError if the archive is broken, encrypted or too large
 */
export function readArchive(archive: Uint8Array, isWanted: (path: string) => boolean): RawFile[] {
  const entries = readDirectory(archive).filter(({ path }) => !path.endsWith('/'));
  checkLimits(entries);
  const wanted = new Set(entries.filter(({ path }) => isWanted(path)).map(({ key }) => key));
  const unpacked = unpack(archive, wanted);
  return entries.map(({ path, key, size, crc }) => {
    if (!wanted.has(key)) return { path, bytes: new Uint8Array() };
    const bytes = unpacked[key];
    if (bytes?.length !== size || crc32(bytes) !== crc)
      throw new ArchiveError(`${path} is damaged in the archive: create the archive again`);
    return { path, bytes };
  });
}

function checkLimits(entries: readonly Entry[]): void {
  if (entries.some(({ isEncrypted }) => isEncrypted))
    throw new ArchiveError('the archive is encrypted: unpack it, and choose the folder');
  if (entries.length > MAX_FILES)
    throw new ArchiveError(`the archive has more than ${MAX_FILES} files: import it in parts`);
  const total = entries.reduce((sum, { size }) => sum + size, 0);
  if (total > MAX_UNPACKED_BYTES)
    throw new ArchiveError('the archive has more than 256 MiB unpacked: import it in parts');
}

function unpack(archive: Uint8Array, keys: ReadonlySet<string>): Record<string, Uint8Array> {
  try {
    return unzipSync(archive, { filter: ({ name }) => keys.has(name) });
  } catch {
    throw new ArchiveError('the archive is broken: create it again');
  }
}
