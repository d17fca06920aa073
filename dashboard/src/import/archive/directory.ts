import { strFromU8 } from 'fflate';
import { ArchiveError } from './archive-error';

const END_SIGNATURE = 0x06054b50;
const ENTRY_SIGNATURE = 0x02014b50;
const END_LENGTH = 22;
const MAX_COMMENT = 65_535;
const ENTRY_LENGTH = 46;
/** Flags of an entry. */
const ENCRYPTED = 1;
const UTF_8 = 0x800;

/** Entry of the directory of an archive. */
export interface Entry {
  readonly path: string;
  /** Name under which fflate unpacks the entry. It reads names as Latin-1 if they are not marked as UTF-8. */
  readonly key: string;
  /** Unpacked size in bytes. */
  readonly size: number;
  readonly crc: number;
  readonly isEncrypted: boolean;
}

/**
 * Reads the directory at the end of an archive. All names are read as UTF-8: macOS writes them so without marking them.
 * @throws ArchiveError if there is no complete directory
 */
export function readDirectory(archive: Uint8Array): Entry[] {
  const view = new DataView(archive.buffer, archive.byteOffset, archive.byteLength);
  const end = findEnd(view);
  const count = view.getUint16(end + 10, true);
  let offset = view.getUint32(end + 16, true);
  const entries: Entry[] = [];
  for (let index = 0; index < count; index++) {
    if (offset + ENTRY_LENGTH > archive.length || view.getUint32(offset, true) !== ENTRY_SIGNATURE)
      throw new ArchiveError('the archive is broken: create it again');
    const nameLength = view.getUint16(offset + 28, true);
    const rest = view.getUint16(offset + 30, true) + view.getUint16(offset + 32, true);
    const name = archive.subarray(offset + ENTRY_LENGTH, offset + ENTRY_LENGTH + nameLength);
    entries.push(readEntry(view, offset, name));
    offset += ENTRY_LENGTH + nameLength + rest;
  }
  return entries;
}

function readEntry(view: DataView, offset: number, name: Uint8Array): Entry {
  const flags = view.getUint16(offset + 8, true);
  return {
    path: strFromU8(name),
    key: strFromU8(name, (flags & UTF_8) === 0),
    size: view.getUint32(offset + 24, true),
    crc: view.getUint32(offset + 16, true),
    isEncrypted: (flags & ENCRYPTED) !== 0,
  };
}

function findEnd(view: DataView): number {
  const first = Math.max(0, view.byteLength - END_LENGTH - MAX_COMMENT);
  for (let offset = view.byteLength - END_LENGTH; offset >= first; offset--)
    if (view.getUint32(offset, true) === END_SIGNATURE) return offset;
  throw new ArchiveError('this is no zip archive, or it is incomplete: create the archive again');
}
