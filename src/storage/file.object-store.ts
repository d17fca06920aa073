import type { Buffer } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import type { Dirent } from 'node:fs';
import { access, lstat, mkdir, open, opendir, readdir, rename, rm, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { crashPoint } from '../common/process/crash-point.js';
import { syncFolder } from '../common/process/files.js';
import { ObjectStore } from './object-store.js';

const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
/** Cannot be part of a key, because segments of keys have no leading dot. */
const TEMPORARY_FOLDER = '.tmp';
/** Minimum age of a leftover. Longer than any put, and than any difference between the clocks of replicas. */
const LEFTOVER_AGE_MS = 3_600_000;
const LIST_BUFFER_ENTRIES = 1_024;

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY, W_OK } = constants;

/**
 * Stores objects as files below a root folder; the key is the path. A stored object survives a crash of the machine.
 * Links below the root are never followed.
 */
export class FileObjectStore extends ObjectStore {
  /** @param root absolute path; {@link prepare} creates the folder */
  constructor(
    private readonly root: string,
    timeoutMs?: number,
  ) {
    super(timeoutMs);
  }

  protected override async putObject(key: string, body: Buffer, signal: AbortSignal): Promise<void> {
    await this.assertPrepared();
    const folder = await this.createFoldersOf(key);
    const temporary = join(this.root, TEMPORARY_FOLDER, randomUUID());
    try {
      await writeDurably(temporary, body, signal);
      signal.throwIfAborted(); // the caller was told that the put failed
      await crashPoint('put:written');
      await rename(temporary, join(this.root, key));
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    await syncFolder(folder);
  }

  protected override async getObject(key: string, signal: AbortSignal): Promise<Buffer | undefined> {
    const folder = await this.folderOf(key);
    // Without O_NONBLOCK, opening a named pipe would wait for a writer.
    const flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;
    const file = folder && (await unlessAbsent(open(join(this.root, key), flags)));
    if (!file) {
      await this.assertPrepared();
      return undefined;
    }
    try {
      const stat = await file.stat();
      if (stat.isDirectory()) return undefined;
      if (!stat.isFile()) throw new Error(`${key} is not a file`);
      return await file.readFile({ signal });
    } finally {
      await file.close();
    }
  }

  protected override async deleteObject(key: string, signal: AbortSignal): Promise<void> {
    const folder = await this.folderOf(key);
    signal.throwIfAborted();
    const removed = folder && (await unlessAbsent(unlink(join(this.root, key)).then(() => true)));
    if (removed) await syncFolder(folder);
    else await this.assertPrepared();
  }

  protected override async *listObjects(prefix: string, signal: AbortSignal): AsyncIterable<string> {
    await this.assertPrepared();
    const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1);
    if (await this.folderOf(folder)) yield* this.walk(folder, prefix, signal);
  }

  protected override async checkStore(): Promise<void> {
    await this.assertPrepared();
    await access(join(this.root, TEMPORARY_FOLDER), W_OK); // a file system with a bad disk turns read-only
  }

  protected override async prepareStore(signal: AbortSignal): Promise<void> {
    const firstMade = await mkdir(this.root, { recursive: true, mode: FOLDER_MODE });
    if (firstMade !== undefined) await syncFolder(dirname(firstMade));
    if (await createFolder(join(this.root, TEMPORARY_FOLDER))) await syncFolder(this.root);
    await this.assertPrepared();
    await this.removeLeftovers(signal);
  }

  /**
   * Checks that the root is a prepared store. Otherwise the empty mount point of a missing volume would look like an
   * empty store, and deletions would succeed.
   * @throws Error when {@link prepare} never ran on the folder at the root
   */
  private async assertPrepared(): Promise<void> {
    const stat = await unlessAbsent(lstat(join(this.root, TEMPORARY_FOLDER)));
    if (!stat?.isDirectory())
      throw new Error(`${this.root} is not a folder of objects: it has no folder ${TEMPORARY_FOLDER}`);
  }

  /** Returns the folder of the key's file. Undefined when the folder does not exist. @throws Error when the path contains a link */
  private async folderOf(key: string): Promise<string | undefined> {
    let folder = this.root;
    for (const segment of key.split('/').slice(0, -1)) {
      folder = join(folder, segment);
      const stat = await unlessAbsent(lstat(folder));
      if (!stat || stat.isFile()) return undefined;
      if (!stat.isDirectory()) throw new Error(`${folder} is not a folder`);
    }
    return folder;
  }

  /** Returns the folder of the key's file. Creates missing folders one by one, because a recursive mkdir follows links. */
  private async createFoldersOf(key: string): Promise<string> {
    let folder = this.root;
    for (const segment of key.split('/').slice(0, -1)) {
      const parent = folder;
      folder = join(parent, segment);
      if (await createFolder(folder)) await syncFolder(parent);
      await assertFolder(folder);
    }
    return folder;
  }

  /** Yields the keys below `folder` ('' or ending in a slash) that begin with `prefix`. */
  private async *walk(folder: string, prefix: string, signal: AbortSignal): AsyncGenerator<string> {
    for await (const entry of entriesOf(join(this.root, folder))) {
      signal.throwIfAborted();
      const key = folder + entry.name;
      if (entry.isFile() && key.startsWith(prefix)) yield key;
      const mayHold = entry.isDirectory() && entry.name !== TEMPORARY_FOLDER && `${key}/`.startsWith(prefix);
      if (mayHold) yield* this.walk(`${key}/`, prefix, signal);
    }
  }

  /** Removes temporary files of processes that were killed during a put. */
  private async removeLeftovers(signal: AbortSignal): Promise<void> {
    const folder = join(this.root, TEMPORARY_FOLDER);
    for (const name of await readdir(folder)) {
      signal.throwIfAborted();
      const path = join(folder, name);
      const stat = await unlessAbsent(lstat(path)); // another replica may remove the file at the same time
      const old = stat !== undefined && Date.now() - stat.mtimeMs > LEFTOVER_AGE_MS;
      if (old && !stat.isDirectory()) await rm(path, { force: true });
    }
  }
}

async function writeDurably(path: string, body: Buffer, signal: AbortSignal): Promise<void> {
  const file = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, FILE_MODE);
  try {
    await file.writeFile(body, { signal });
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Returns whether the folder was missing. */
async function createFolder(path: string): Promise<boolean> {
  try {
    await mkdir(path, { mode: FOLDER_MODE });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

async function assertFolder(path: string): Promise<void> {
  if (!(await lstat(path)).isDirectory()) throw new Error(`${path} is not a folder`);
}

async function* entriesOf(folder: string): AsyncGenerator<Dirent> {
  const entries = await unlessAbsent(opendir(folder, { bufferSize: LIST_BUFFER_ENTRIES }));
  if (entries) yield* entries;
}

/** Returns undefined if the path does not name a file: it is absent, leads through a file, or names a folder. */
async function unlessAbsent<T>(operation: Promise<T>): Promise<T | undefined> {
  try {
    return await operation;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EISDIR'].includes(codeOf(error) ?? '')) return undefined;
    throw error;
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
