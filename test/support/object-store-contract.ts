import { randomBytes } from 'node:crypto';
import type { ObjectStore } from '../../src/storage/object-store.js';
import { StorageUnavailable } from '../../src/storage/storage.errors.js';

export interface StoreUnderTest {
  /** Prepared and empty store. */
  readonly store: ObjectStore;
  close(): Promise<void>;
}

const BAD_KEYS = [
  '',
  '/',
  '/a',
  'a/',
  'a//b',
  '.',
  '..',
  '../a',
  'a/../b',
  'a/./b',
  '.tmp/a',
  'a/.hidden',
].concat(['a b', 'a\\b', 'a\0b', 'a%2fb', 'a\n', 'ä', 'a'.repeat(513)]);
const GOOD_KEYS = [
  'a',
  'documents/1',
  'documents/1000000000000000',
  'A-b_c.d/..e'.replace('..e', 'e..f'),
  '-',
  '_/-',
];

/** Contract of every object store. */
export function describeObjectStore(name: string, make: () => Promise<StoreUnderTest>): void {
  describe(name, () => {
    let underTest: StoreUnderTest;
    let store: ObjectStore;

    beforeEach(async () => {
      underTest = await make();
      store = underTest.store;
    });
    afterEach(() => underTest.close());

    it.each([
      ['no bytes', Buffer.alloc(0)],
      ['one byte', Buffer.of(0)],
      ['every byte value', Buffer.from(Array.from({ length: 256 }, (_, i) => i))],
      ['text with U+0000, BOM and CRLF', Buffer.from('\uFEFFa\0b\r\nc\n')],
      ['1 MiB', randomBytes(1_048_576)],
      ['5 MiB', randomBytes(5 * 1_048_576)],
    ])('returns %s as stored', async (_, body) => {
      await store.put('documents/1', body);
      const stored = await store.get('documents/1');
      expect(stored?.equals(body)).toBe(true);
    });

    it.each([...GOOD_KEYS, 'a'.repeat(200), `${'a'.repeat(200)}/`.repeat(2) + 'b'.repeat(110)])(
      'accepts the key %s',
      async (key) => {
        await store.put(key, Buffer.from('body'));
        expect((await store.get(key))?.toString()).toBe('body');
        expect(await keysOf(store)).toEqual([key]);
        await store.delete(key);
        expect(await store.get(key)).toBeUndefined();
      },
    );

    it('replaces a body, even by a shorter one', async () => {
      await store.put('documents/1', Buffer.from('a long first body'));
      await store.put('documents/1', Buffer.from('short'));
      expect((await store.get('documents/1'))?.toString()).toBe('short');
      expect(await keysOf(store)).toEqual(['documents/1']);
    });

    it('stores different bodies under different keys', async () => {
      await store.put('documents/1', Buffer.from('one'));
      await store.put('documents/11', Buffer.from('eleven'));
      await store.delete('documents/1');
      expect(await store.get('documents/1')).toBeUndefined();
      expect((await store.get('documents/11'))?.toString()).toBe('eleven');
    });

    it('finds nothing under a key that was never stored', async () => {
      expect(await store.get('documents/1')).toBeUndefined();
      await store.put('documents/2', Buffer.from('two'));
      expect(await store.get('documents/1')).toBeUndefined();
      expect(await store.get('documents/2/3')).toBeUndefined();
      expect(await store.get('documents')).toBeUndefined();
    });

    it('deletes present, deleted and absent objects alike', async () => {
      await store.delete('documents/1');
      await store.put('documents/1', Buffer.from('one'));
      await store.delete('documents/1');
      await store.delete('documents/1');
      await Promise.all(['documents/1', 'documents/1'].map((key) => store.delete(key)));
      expect(await store.get('documents/1')).toBeUndefined();
    });

    it('deletes an object, never the folder of the same name', async () => {
      await store.put('documents/1', Buffer.from('one'));
      await store.delete('documents');
      await store.delete('documents/1/2');
      expect((await store.get('documents/1'))?.toString()).toBe('one');
    });

    it('stores one of many concurrent puts as a whole, also for concurrent readers', async () => {
      const bodies = Array.from({ length: 8 }, (_, i) => Buffer.alloc(100_000 + i, i));
      const isOneOfThem = (body?: Buffer) => bodies.some((candidate) => body?.equals(candidate));
      await store.put('documents/1', bodies[0]!);
      const puts = bodies.map((body) => store.put('documents/1', body));
      const gets = bodies.map(() => store.get('documents/1'));
      expect((await Promise.all(gets)).every(isOneOfThem)).toBe(true);
      await Promise.all(puts);
      expect(isOneOfThem(await store.get('documents/1'))).toBe(true);
    });

    it.each(BAD_KEYS)('rejects the key %j', async (key) => {
      await expect(store.put(key, Buffer.from('body'))).rejects.toThrow(TypeError);
      await expect(store.get(key)).rejects.toThrow(TypeError);
      await expect(store.delete(key)).rejects.toThrow(TypeError);
      expect(await keysOf(store)).toEqual([]);
    });

    it.each(['/', '../', 'documents/../', '.tmp/', 'a b'])('rejects the prefix %j', async (prefix) => {
      await expect(keysOf(store, prefix)).rejects.toThrow(TypeError);
    });

    it('lists the keys that begin with a prefix', async () => {
      const keys = ['documents/1', 'documents/12', 'documents/2', 'documents-old/1', 'other/deep/er/1'];
      await Promise.all(keys.map((key) => store.put(key, Buffer.from(key))));
      expect(await keysOf(store)).toEqual([...keys].sort());
      expect(await keysOf(store, 'documents/')).toEqual(['documents/1', 'documents/12', 'documents/2']);
      expect(await keysOf(store, 'documents/1')).toEqual(['documents/1', 'documents/12']);
      expect(await keysOf(store, 'doc')).toHaveLength(4);
      expect(await keysOf(store, 'other/deep/')).toEqual(['other/deep/er/1']);
      expect(await keysOf(store, 'absent/')).toEqual([]);
    });

    it('stops the listing when the caller stops', async () => {
      await Promise.all(['a/1', 'a/2', 'a/3'].map((key) => store.put(key, Buffer.from(key))));
      for await (const key of store.list('a/')) {
        expect(key).toMatch(/^a\/[123]$/);
        break;
      }
      expect(await keysOf(store, 'a/')).toHaveLength(3);
    });

    it('can be prepared repeatedly and concurrently', async () => {
      await store.put('documents/1', Buffer.from('one'));
      await Promise.all([store.prepare(), store.prepare(), store.prepare()]);
      await store.check();
      expect((await store.get('documents/1'))?.toString()).toBe('one');
    });

    it('does nothing for an aborted caller', async () => {
      await store.put('documents/1', Buffer.from('one'));
      const gone = AbortSignal.abort(new Error('gone'));
      await expect(store.put('documents/1', Buffer.from('two'), gone)).rejects.toThrow(StorageUnavailable);
      await expect(store.delete('documents/1', gone)).rejects.toThrow(StorageUnavailable);
      await expect(store.get('documents/1', gone)).rejects.toThrow(StorageUnavailable);
      expect((await store.get('documents/1'))?.toString()).toBe('one');
    });
  });
}

/** Lists the keys in order. */
export async function keysOf(store: ObjectStore, prefix = ''): Promise<string[]> {
  const keys: string[] = [];
  for await (const key of store.list(prefix)) keys.push(key);
  return keys.sort();
}
