import { execFileSync } from 'node:child_process';
import {
  access,
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeObjectStore, keysOf } from '../../test/support/object-store-contract.js';
import { describeWith, ORDINARY_USER } from '../../test/support/requirements.js';
import { FileObjectStore } from './file.object-store.js';
import { StorageUnavailable } from './storage.errors.js';

const LONG_MS = 60_000;
const body = Buffer.from('body');

async function makeFileStore() {
  const folder = await mkdtemp(join(tmpdir(), 'mintkeep-files-'));
  const root = join(folder, 'data', 'objects');
  const store = new FileObjectStore(root, LONG_MS);
  await store.prepare();
  return { folder, root, store, close: () => rm(folder, { recursive: true, force: true }) };
}

describeObjectStore('FileObjectStore', makeFileStore);

describe('FileObjectStore on disk', () => {
  let folder: string;
  let root: string;
  let store: FileObjectStore;
  let close: () => Promise<void>;

  const modeOf = async (path: string) => (await stat(join(root, path))).mode & 0o777;
  const temporaryFiles = () => readdir(join(root, '.tmp'));
  const exists = (path: string) =>
    access(path).then(
      () => true,
      () => false,
    );

  beforeEach(async () => ({ folder, root, store, close } = await makeFileStore()));
  afterEach(() => close());

  it('stores a body at the path of its key, readable by its own user only', async () => {
    await store.put('documents/123', body);
    expect(await readFile(join(root, 'documents/123'))).toEqual(body);
    expect(await modeOf('documents/123')).toBe(0o600);
    expect(await Promise.all(['', 'documents', '.tmp'].map(modeOf))).toEqual([0o700, 0o700, 0o700]);
    expect(await temporaryFiles()).toEqual([]);
  });

  it('keeps the old body and no part of the new one when a put is aborted', async () => {
    await store.put('documents/1', body);
    const caller = new AbortController();
    const put = store.put('documents/1', Buffer.alloc(32 * 1_048_576, 1), caller.signal);
    await until(async () => (await temporaryFiles()).length > 0);
    caller.abort();
    await expect(put).rejects.toThrow(StorageUnavailable);
    await until(async () => (await temporaryFiles()).length === 0);
    expect(await store.get('documents/1')).toEqual(body);
  });

  it('leaves no temporary file when a body cannot be moved to its path', async () => {
    await store.put('documents/1', body);
    await expect(store.put('documents', body)).rejects.toThrow(StorageUnavailable);
    await expect(store.put('documents/1/2', body)).rejects.toThrow(StorageUnavailable);
    expect(await temporaryFiles()).toEqual([]);
    expect(await store.get('documents/1')).toEqual(body);
  });

  describe('protection against links that lead out of the root', () => {
    let outside: string;

    beforeEach(async () => {
      outside = join(folder, 'outside');
      await mkdir(outside);
      await writeFile(join(outside, 'secret'), 'secret');
    });

    it('neither reads, writes, lists nor deletes through a linked folder', async () => {
      await symlink(outside, join(root, 'documents'));
      await expect(store.get('documents/secret')).rejects.toThrow(StorageUnavailable);
      await expect(store.put('documents/secret', body)).rejects.toThrow(StorageUnavailable);
      await expect(store.put('documents/new/deep', body)).rejects.toThrow(StorageUnavailable);
      await expect(store.delete('documents/secret')).rejects.toThrow(StorageUnavailable);
      await expect(keysOf(store, 'documents/')).rejects.toThrow(StorageUnavailable);
      expect(await keysOf(store)).toEqual([]);
      expect(await readdir(outside)).toEqual(['secret']);
      expect(await readFile(join(outside, 'secret'), 'utf8')).toBe('secret');
    });

    it('does not read a linked file, and replaces or deletes only the link', async () => {
      await store.put('documents/1', body);
      await symlink(join(outside, 'secret'), join(root, 'documents/2'));
      await symlink(join(outside, 'secret'), join(root, 'documents/3'));
      await expect(store.get('documents/2')).rejects.toThrow(StorageUnavailable);
      await store.put('documents/2', body);
      await store.delete('documents/3');
      expect(await store.get('documents/2')).toEqual(body);
      expect(await keysOf(store)).toEqual(['documents/1', 'documents/2']);
      expect(await readFile(join(outside, 'secret'), 'utf8')).toBe('secret');
    });

    it('does not write temporary files through a linked folder', async () => {
      await rm(join(root, '.tmp'), { recursive: true });
      await symlink(outside, join(root, '.tmp'));
      await expect(store.put('documents/1', body)).rejects.toThrow(StorageUnavailable);
      await expect(store.prepare()).rejects.toThrow(StorageUnavailable);
      await expect(store.check()).rejects.toThrow(StorageUnavailable);
      expect(await readdir(outside)).toEqual(['secret']);
    });
  });

  it('follows the root itself if it is a link', async () => {
    await symlink(root, join(folder, 'link'));
    const linked = new FileObjectStore(join(folder, 'link'), LONG_MS);
    await linked.prepare();
    await linked.put('documents/1', body);
    expect(await store.get('documents/1')).toEqual(body);
  });

  it('does not wait for the writer of a named pipe', async () => {
    await store.put('documents/1', body);
    execFileSync('mkfifo', [join(root, 'documents/2')]);
    await expect(store.get('documents/2')).rejects.toThrow(StorageUnavailable);
    expect(await keysOf(store)).toEqual(['documents/1']);
  });

  it('leaves out files that are not objects', async () => {
    await store.put('documents/1', body);
    await writeFile(join(root, 'documents', 'lost & found'), '');
    await writeFile(join(root, 'documents', '.DS_Store'), '');
    await writeFile(join(root, '.tmp', 'leftover'), '');
    expect(await keysOf(store)).toEqual(['documents/1']);
  });

  it('removes old temporary files of killed processes, but no recent ones', async () => {
    const old = join(root, '.tmp', 'old');
    const young = join(root, '.tmp', 'young');
    await Promise.all([writeFile(old, 'x'), writeFile(young, 'x')]);
    const twoHoursAgo = new Date(Date.now() - 2 * 3_600_000);
    await utimes(old, twoHoursAgo, twoHoursAgo);
    await Promise.all([store.prepare(), new FileObjectStore(root, LONG_MS).prepare()]);
    expect(await Promise.all([exists(old), exists(young)])).toEqual([false, true]);
  });

  it('is unavailable without its folder, and treats an empty mount point as missing', async () => {
    await store.put('documents/1', body);
    await rename(root, join(folder, 'unmounted'));
    await mkdir(root);
    const calls = [
      () => store.put('documents/1', body),
      () => store.get('documents/1'),
      () => store.delete('documents/1'),
      () => keysOf(store),
      () => store.check(),
    ];
    for (const call of calls) await expect(call()).rejects.toThrow(StorageUnavailable);
    expect(await readdir(root)).toEqual([]);
    await rm(root, { recursive: true });
    for (const call of calls) await expect(call()).rejects.toThrow(StorageUnavailable);

    await rename(join(folder, 'unmounted'), root);
    await store.check();
    expect(await store.get('documents/1')).toEqual(body);
  });

  it('cannot be prepared if its path is a file', async () => {
    await writeFile(join(folder, 'file'), '');
    await expect(new FileObjectStore(join(folder, 'file'), LONG_MS).prepare()).rejects.toThrow(
      StorageUnavailable,
    );
  });

  describeWith(ORDINARY_USER, 'run by an ordinary user', () => {
    it('is not ready without permission to write', async () => {
      await chmod(join(root, '.tmp'), 0o500);
      await expect(store.check()).rejects.toThrow(StorageUnavailable);
      await chmod(join(root, '.tmp'), 0o700);
      await store.check();
    });
  });
});

/** Polls the condition; the timeout of the test is the deadline. */
async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise(setImmediate);
}
