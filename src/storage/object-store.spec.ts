import { keysOf } from '../../test/support/object-store-contract.js';
import { ObjectStore } from './object-store.js';
import { StorageUnavailable } from './storage.errors.js';

const SHORT_MS = 20;
const LONG_MS = 60_000;
const never = () => new Promise<never>(() => undefined);

/** Adapter that runs `work` for every call, and records the signals. */
class FakeStore extends ObjectStore {
  readonly signals: AbortSignal[] = [];

  constructor(
    private readonly work: () => Promise<undefined>,
    timeoutMs?: number,
  ) {
    super(timeoutMs);
  }

  private do(signal: AbortSignal): Promise<undefined> {
    this.signals.push(signal);
    return this.work();
  }

  protected override putObject = (_key: string, _body: Buffer, signal: AbortSignal) => this.do(signal);
  protected override getObject = (_key: string, signal: AbortSignal) => this.do(signal);
  protected override deleteObject = (_key: string, signal: AbortSignal) => this.do(signal);
  protected override checkStore = (signal: AbortSignal) => this.do(signal);
  protected override prepareStore = (signal: AbortSignal) => this.do(signal);

  protected override async *listObjects(_prefix: string, signal: AbortSignal): AsyncIterable<string> {
    yield 'first';
    await this.do(signal);
  }
}

const CALLS: [string, (store: ObjectStore) => Promise<unknown>][] = [
  ['put', (store) => store.put('key', Buffer.from('body'))],
  ['get', (store) => store.get('key')],
  ['delete', (store) => store.delete('key')],
  ['list', (store) => keysOf(store)],
  ['check', (store) => store.check()],
  ['prepare', (store) => store.prepare()],
];

describe.each(CALLS)('%s of any object store', (_, call) => {
  it('ends at the deadline although the adapter never responds, and aborts the signal of the adapter', async () => {
    const store = new FakeStore(never, SHORT_MS);
    await expect(call(store)).rejects.toMatchObject({
      name: 'StorageUnavailable',
      cause: { message: `no response within ${SHORT_MS} ms` },
    });
    expect(store.signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  it('reports the error of the adapter as the cause', async () => {
    const cause = new Error('disk on fire');
    const failure = await call(new FakeStore(() => Promise.reject(cause))).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StorageUnavailable);
    expect(failure).toMatchObject({ cause });
  });

  it('aborts the signal of the adapter after the call', async () => {
    const store = new FakeStore(() => Promise.resolve(undefined), LONG_MS);
    await call(store);
    expect(store.signals.map(({ aborted }) => aborted)).toEqual([true]);
  });
});

describe('the signal of the caller', () => {
  it.each([
    ['put', (store: ObjectStore, signal: AbortSignal) => store.put('key', Buffer.from('body'), signal)],
    ['get', (store: ObjectStore, signal: AbortSignal) => store.get('key', signal)],
    ['delete', (store: ObjectStore, signal: AbortSignal) => store.delete('key', signal)],
  ])('ends a %s before the deadline', async (_, call) => {
    const store = new FakeStore(never, LONG_MS);
    const caller = new AbortController();
    const result = call(store, caller.signal);
    const reason = new Error('gone');
    caller.abort(reason);
    await expect(result).rejects.toMatchObject({ name: 'StorageUnavailable', cause: reason });
    expect(store.signals[0]?.aborted).toBe(true);
  });

  it('prevents the call if it is already aborted', async () => {
    const store = new FakeStore(never, LONG_MS);
    await expect(store.get('key', AbortSignal.abort())).rejects.toThrow(StorageUnavailable);
    expect(store.signals).toEqual([]);
  });
});

it('rejects an invalid key before the call of the adapter', async () => {
  const store = new FakeStore(never, SHORT_MS);
  await expect(store.put('../key', Buffer.from('body'))).rejects.toThrow(TypeError);
  await expect(store.get('../key')).rejects.toThrow(TypeError);
  await expect(store.delete('../key')).rejects.toThrow(TypeError);
  expect(store.signals).toEqual([]);
});

it('yields the keys that were listed before the deadline', async () => {
  const keys: string[] = [];
  const listing = async () => {
    for await (const key of new FakeStore(never, SHORT_MS).list('')) keys.push(key);
  };
  await expect(listing()).rejects.toThrow(StorageUnavailable);
  expect(keys).toEqual(['first']);
});
