import type { RawFile } from './archive/archive';
import { isHidden, isIgnored, isImportable } from './file-kinds';

const ZIP = /\.zip$/i;
const MAX_BYTES = 1_048_576;

/** File with its path below the chosen or dropped folder. */
export interface ChosenFile {
  readonly path: string;
  readonly file: File;
}

/** Files of an `<input type="file">`, which has paths if a folder was chosen. */
export function filesOfInput(list: FileList): ChosenFile[] {
  return [...list].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
}

/** Files and folders that were dropped. It has to be called while the event is handled. */
export async function filesOfDrop(transfer: DataTransfer): Promise<ChosenFile[]> {
  return (await Promise.all([...transfer.items].map(filesOfItem))).flat();
}

function filesOfItem(item: DataTransferItem): Promise<ChosenFile[]> {
  const entry = item.webkitGetAsEntry();
  if (entry) return filesOfEntry(entry);
  const file = item.getAsFile(); // a file without a place in a file system, such as one of a script
  return Promise.resolve(file ? [{ path: file.name, file }] : []);
}

async function filesOfEntry(entry: FileSystemEntry): Promise<ChosenFile[]> {
  const path = entry.fullPath.replace(/^\//, '');
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) =>
      (entry as FileSystemFileEntry).file(resolve, reject),
    );
    return [{ path, file }];
  }
  const children = await readFolder((entry as FileSystemDirectoryEntry).createReader());
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

/** Reads files, and unpacks archives among them. @throws ArchiveError for an archive that cannot be read */
export async function readFiles(chosen: readonly ChosenFile[]): Promise<RawFile[]> {
  const files: RawFile[] = [];
  for (const { path, file } of chosen) {
    if (isIgnored(path)) continue;
    if (ZIP.test(path) && !isHidden(path)) files.push(...(await unpack(file)));
    else files.push({ path, bytes: await readBytes(path, file) });
  }
  return files;
}

/** Reads only what can become a document. One byte too much is enough to reject a large file. */
async function readBytes(path: string, file: File): Promise<Uint8Array> {
  if (!isImportable(path)) return new Uint8Array();
  return new Uint8Array(await file.slice(0, MAX_BYTES + 1).arrayBuffer());
}

async function unpack(file: File): Promise<RawFile[]> {
  const { readArchive } = await import('./archive/archive');
  return readArchive(new Uint8Array(await file.arrayBuffer()), isImportable);
}
