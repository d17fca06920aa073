import type { RawFile } from './archive/archive';
import { isHidden, isIgnored, isImportable } from './file-kinds';

const ZIP = /\.zip$/i;
const MAX_BYTES = 1_048_576;

/** File with its path below the chosen or dropped folder. */
interface ChosenFile {
  readonly path: string;
  readonly file: File;
}

/** Lists files that a person chose or dropped. */
export type FileSource = () => Promise<readonly ChosenFile[]>;

/** Files of an `<input type="file">`, which has paths if a folder was chosen. */
export function filesOfInput(list: Iterable<File>): FileSource {
  const files = [...list].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
  return () => Promise.resolve(files);
}

/** Files and folders that were dropped. They can be captured only while the event is handled, and are listed later. */
export function filesOfDrop(transfer: DataTransfer): FileSource {
  const items = [...transfer.items].map((item) => item.webkitGetAsEntry() ?? item.getAsFile());
  return async () => (await Promise.all(items.map(filesOfItem))).flat();
}

/** A file of a script has no place in a file system, and so no entry. */
function filesOfItem(item: FileSystemEntry | File | null): Promise<ChosenFile[]> {
  if (item instanceof File) return Promise.resolve([{ path: item.name, file: item }]);
  return item ? filesOfEntry(item) : Promise.resolve([]);
}

async function filesOfEntry(entry: FileSystemEntry): Promise<ChosenFile[]> {
  const path = entry.fullPath.replace(/^\//, '');
  if (entry.isFile) {
    const file = new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    return [{ path, file: await readable(path, file) }];
  }
  const children = await readable(path, readFolder((entry as FileSystemDirectoryEntry).createReader()));
  return (await Promise.all(children.map(filesOfEntry))).flat();
}

/** Reads a folder, whose reader returns only some entries at a time. */
async function readFolder(reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> {
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (some.length === 0) return all;
    all.push(...some);
  }
}

/** Names the file that cannot be read, for example because it was deleted after it had been chosen. */
async function readable<T>(path: string, reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (cause) {
    throw new Error(`${path} cannot be read: check it, and choose the files again`, { cause });
  }
}

/**
 * Reads files, and unpacks archives among them.
 * @throws Error whose message names the file that cannot be read and what to do
 */
export async function readFiles(source: FileSource): Promise<RawFile[]> {
  const files: RawFile[] = [];
  for (const { path, file } of await source()) {
    if (isIgnored(path)) continue;
    if (ZIP.test(path) && !isHidden(path)) files.push(...(await unpack(path, file)));
    else files.push({ path, bytes: await readBytes(path, file) });
  }
  return files;
}

/** Reads only what can become a document. One byte too much is enough to reject a large file. */
async function readBytes(path: string, file: File): Promise<Uint8Array> {
  if (!isImportable(path)) return new Uint8Array();
  return new Uint8Array(await readable(path, file.slice(0, MAX_BYTES + 1).arrayBuffer()));
}

async function unpack(path: string, file: File): Promise<RawFile[]> {
  const bytes = await readable(path, file.arrayBuffer());
  const { readArchive } = await import('./archive/archive');
  return readArchive(new Uint8Array(bytes), isImportable);
}
