import type { Buffer } from 'node:buffer';
import { StorageUnavailable } from './storage.errors.js';

/** How long a call to object storage may take. */
export const STORAGE_TIMEOUT_MS = 5_000;

const KEY_MAX_CHARACTERS = 512;
/** No leading dot: rules out `.` and `..`, and leaves adapters names of their own. */
const KEY = /^[A-Za-z0-9_-][A-Za-z0-9._-]*(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/;

/** Is told of every call when it is over. */
export type CallObserver = (operation: string, outcome: 'ok' | 'failed', seconds: number) => void;

/**
 * Where bodies are kept; the contract and the injection token. A key is made of segments of `[A-Za-z0-9._-]`
 * that do not begin with a dot, joined by `/`, 512 characters at most. A key must not be the folder of another
 * one (`a` and `a/b`): not every store can hold both.
 *
 * The public methods check the key and hold the deadline, whatever the adapter does; adapters implement the
 * protected ones. Every method throws StorageUnavailable when the store fails or the deadline passes; an aborted
 * `signal` of the caller's ends a call early in the same way. A key that breaks the rules is a mistake in the
 * program: TypeError, before any I/O.
 */
export abstract class ObjectStore {
  private observer?: CallObserver;

  constructor(private readonly timeoutMs: number = STORAGE_TIMEOUT_MS) {}

  /** From now on, calls are reported. */
  observe(observer: CallObserver): void {
    this.observer = observer;
  }

  /**
   * Stores `body` under `key`, replacing what was there; atomic: a reader sees the old body or the new one.
   * @throws StorageUnavailable; the old body or the new one is stored then
   */
  async put(key: string, body: Buffer, signal?: AbortSignal): Promise<void> {
    assertKey(key);
    await this.within('put', key, (abort) => this.putObject(key, body, abort), signal);
  }

  /** The body under `key`; undefined when there is no such object. @throws StorageUnavailable */
  async get(key: string, signal?: AbortSignal): Promise<Buffer | undefined> {
    assertKey(key);
    return this.within('get', key, (abort) => this.getObject(key, abort), signal);
  }

  /** Removes the object; nothing happens when there is none. @throws StorageUnavailable */
  async delete(key: string, signal?: AbortSignal): Promise<void> {
    assertKey(key);
    await this.within('delete', key, (abort) => this.deleteObject(key, abort), signal);
  }

  /**
   * The keys that begin with `prefix`, in no particular order. The deadline is for each step of the iteration.
   * @throws StorageUnavailable
   */
  async *list(prefix: string): AsyncGenerator<string, void, undefined> {
    assertPrefix(prefix);
    const iteration = new AbortController();
    const keys = this.listObjects(prefix, iteration.signal)[Symbol.asyncIterator]();
    try {
      for (;;) {
        const step = await this.within('list', prefix, () => keys.next());
        if (step.done) return;
        if (isKey(step.value)) yield step.value;
      }
    } finally {
      iteration.abort();
      // Not awaited: an adapter that hangs would hold the caller beyond the deadline.
      keys.return?.().catch(() => undefined);
    }
  }

  /** Whether calls have a chance, for readiness. @throws StorageUnavailable */
  async check(): Promise<void> {
    await this.within('check', '', (abort) => this.checkStore(abort));
  }

  /** Makes folder or bucket; for every start, of several replicas at once too. @throws StorageUnavailable */
  async prepare(): Promise<void> {
    await this.within('prepare', '', (abort) => this.prepareStore(abort));
  }

  // The signal is aborted when a call is over, for whatever reason: I/O that is still going on has to end then.
  protected abstract putObject(key: string, body: Buffer, signal: AbortSignal): Promise<void>;
  protected abstract getObject(key: string, signal: AbortSignal): Promise<Buffer | undefined>;
  protected abstract deleteObject(key: string, signal: AbortSignal): Promise<void>;
  /** May yield keys that are not ours; they are left out. */
  protected abstract listObjects(prefix: string, signal: AbortSignal): AsyncIterable<string>;
  protected abstract checkStore(signal: AbortSignal): Promise<void>;
  protected abstract prepareStore(signal: AbortSignal): Promise<void>;

  private async within<T>(
    operation: string,
    key: string,
    task: (signal: AbortSignal) => Promise<T>,
    outer?: AbortSignal,
  ): Promise<T> {
    const beganAt = performance.now();
    let outcome: 'ok' | 'failed' = 'failed';
    const call = new AbortController();
    const aborted = new Promise<never>((_, reject) => {
      call.signal.addEventListener('abort', () => reject(call.signal.reason), { once: true });
    });
    aborted.catch(() => undefined); // for when nothing gets as far as waiting for it
    const timeout = () => call.abort(new Error(`no answer within ${this.timeoutMs} ms`));
    const timer = setTimeout(timeout, this.timeoutMs);
    // Not AbortSignal.any: what it makes is kept for as long as the outer signal lives.
    outer?.addEventListener('abort', () => call.abort(outer.reason), { signal: call.signal });
    try {
      outer?.throwIfAborted();
      const result = await Promise.race([task(call.signal), aborted]);
      outcome = 'ok';
      return result;
    } catch (cause) {
      throw new StorageUnavailable(`${`${operation} ${key}`.trim()} failed`, cause);
    } finally {
      clearTimeout(timer);
      call.abort();
      this.observer?.(operation, outcome, (performance.now() - beganAt) / 1_000);
    }
  }
}

function isKey(key: string): boolean {
  return key.length <= KEY_MAX_CHARACTERS && KEY.test(key);
}

function assertKey(key: string): void {
  if (!isKey(key)) throw new TypeError(`not a key of object storage: ${JSON.stringify(key)}`);
}

/** A prefix is the beginning of a key, or empty. */
function assertPrefix(prefix: string): void {
  if (prefix !== '' && !isKey(prefix) && !isKey(`${prefix}x`)) {
    throw new TypeError(`not a prefix of keys of object storage: ${JSON.stringify(prefix)}`);
  }
}
