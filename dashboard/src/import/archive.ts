import { unzipSync } from 'fflate';

const MAX_UNPACKED_BYTES = 256 * 1024 * 1024;
export const MAX_FILES = 10_000;

const END_SIGNATURE = 0x06054b50;
const ENTRY_SIGNATURE = 0x02014b50;
const END_LENGTH = 22;
const MAX_COMMENT = 65_535;
const ENTRY_LENGTH = 46;
const ENCRYPTED = 1;
const CRC_POLYNOMIAL = 0xedb88320;

/** File of an import before anything is known about it. */
export interface RawFile {
  /** Path with `/`, relative to the dropped folder or archive. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** Entry of the directory of an archive. */
interface Entry {
  readonly name: string;
  readonly size: number;
  readonly crc: number;
  readonly isEncrypted: boolean;
}

/** Archive that cannot be imported. Nothing of it is. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError';
}

/**
 * Unpacks the files of an archive that are wanted. The others have no bytes.
 * @throws ArchiveError if the archive is broken, encrypted or too large
 */
export function readArchive(archive: Uint8Array, isWanted: (path: string) => boolean): RawFile[] {
  const entries = readDirectory(archive).filter(({ name }) => !name.endsWith('/'));
  checkLimits(entries);
  const unpacked = unpack(archive, isWanted);
  return entries.map(({ name, size, crc }) => {
    if (!isWanted(name)) return { path: name, bytes: new Uint8Array() };
    const bytes = unpacked[name];
    if (bytes?.length !== size || crc32(bytes) !== crc)
      throw new ArchiveError(`${name} is damaged in the archive`);
    return { path: name, bytes };
  });
}

function checkLimits(entries: readonly Entry[]): void {
  if (entries.some(({ isEncrypted }) => isEncrypted)) throw new ArchiveError('the archive is encrypted');
  if (entries.length > MAX_FILES) throw new ArchiveError(`the archive has more than ${MAX_FILES} files`);
  const total = entries.reduce((sum, { size }) => sum + size, 0);
  if (total > MAX_UNPACKED_BYTES) throw new ArchiveError('the archive has more than 256 MiB unpacked');
}

function unpack(archive: Uint8Array, isWanted: (path: string) => boolean): Record<string, Uint8Array> {
  try {
    return unzipSync(archive, { filter: ({ name }) => isWanted(name) });
  } catch {
    throw new ArchiveError('the archive is broken');
  }
}

/** Reads the directory at the end of an archive. */
function readDirectory(archive: Uint8Array): Entry[] {
  const view = new DataView(archive.buffer, archive.byteOffset, archive.byteLength);
  const end = findEnd(view);
  const count = view.getUint16(end + 10, true);
  let offset = view.getUint32(end + 16, true);
  const entries: Entry[] = [];
  for (let index = 0; index < count; index++) {
    if (offset + ENTRY_LENGTH > archive.length || view.getUint32(offset, true) !== ENTRY_SIGNATURE)
      throw new ArchiveError('the archive is broken');
    const nameLength = view.getUint16(offset + 28, true);
    const rest = view.getUint16(offset + 30, true) + view.getUint16(offset + 32, true);
    const name = archive.subarray(offset + ENTRY_LENGTH, offset + ENTRY_LENGTH + nameLength);
    entries.push({
      name: new TextDecoder().decode(name),
      size: view.getUint32(offset + 24, true),
      crc: view.getUint32(offset + 16, true),
      isEncrypted: (view.getUint16(offset + 8, true) & ENCRYPTED) !== 0,
    });
    offset += ENTRY_LENGTH + nameLength + rest;
  }
  return entries;
}

function findEnd(view: DataView): number {
  const first = Math.max(0, view.byteLength - END_LENGTH - MAX_COMMENT);
  for (let offset = view.byteLength - END_LENGTH; offset >= first; offset--)
    if (view.getUint32(offset, true) === END_SIGNATURE) return offset;
  throw new ArchiveError('this is no zip archive, or it is incomplete');
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ CRC_POLYNOMIAL : crc >>> 1;
  return crc;
});

function crc32(bytes: Uint8Array): number {
  let crc = -1;
  for (const byte of bytes) crc = CRC_TABLE[(crc ^ byte) & 0xff]! ^ (crc >>> 8);
  return ~crc >>> 0;
}
