import type { Buffer } from 'node:buffer';
import { StorageUnavailable } from './storage.errors.js';

/** Maximum duration of a call to object storage, unless a test sets another one. */
export const STORAGE_TIMEOUT_MS = 5_000;

const KEY_MAX_CHARACTERS = 512;
/** Pattern of keys. Segments have no leading dot, which excludes `.` and `..` and reserves names for adapters. */
const KEY = /^[A-Za-z0-9_-][A-Za-z0-9._-]*(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/;

/** Receives every call when it has ended. */
export type CallObserver = (operation: string, outcome: 'ok' | 'failed', seconds: number) => void;

/**
 * Storage of bodies; the contract of all adapters and the injection token.
 *
 * A key consists of segments of `[A-Za-z0-9._-]` without a leading dot, joined by `/`; at most 512 characters. A key
 * must not be the folder of another key (`a` and `a/b`), because not every store can hold both. An invalid key is a
 * bug in the program and causes a TypeError before any I/O.
 *
 * The public methods check the key and enforce the deadline; adapters implement the protected methods. Every method
 * throws StorageUnavailable when the store fails or the deadline passes. An aborted `signal` of the caller ends the
 * call early in the same way.
 */
export abstract class ObjectStore {
  private observer?: CallObserver;

  /** @param timeoutMs maximum duration of a call */
  constructor(readonly timeoutMs: number = STORAGE_TIMEOUT_MS) {}

  /** Sets the observer of all later calls. */
  observe(observer: CallObserver): void {
    this.observer = observer;
  }

  /**
   * Stores `body` under `key` atomically and replaces any previous body.
   * @throws StorageUnavailable; then either the old or the new body is stored
   */
  async put(key: string, body: Buffer, signal?: AbortSignal): Promise<void> {
    assertKey(key);
    await this.withDeadline('put', key, (abort) => this.putObject(key, body, abort), signal);
  }

  /** Reads the body under `key`. Undefined when there is no such object. @throws StorageUnavailable */
  async get(key: string, signal?: AbortSignal): Promise<Buffer | undefined> {
    assertKey(key);
    return this.withDeadline('get', key, (abort) => this.getObject(key, abort), signal);
  }

  /** Deletes the object if it exists. @throws StorageUnavailable */
  async delete(key: string, signal?: AbortSignal): Promise<void> {
    assertKey(key);
    await this.withDeadline('delete', key, (abort) => this.deleteObject(key, abort), signal);
  }

  /**
   * Lists the keys that begin with `prefix`, in no particular order. Each step of the iteration has its own deadline.
   * @throws StorageUnavailable
   */
  async *list(prefix: string): AsyncGenerator<string, void, undefined> {
    assertPrefix(prefix);
    const iteration = new AbortController();
    const keys = this.listObjects(prefix, iteration.signal)[Symbol.asyncIterator]();
    try {
      for (;;) {
        const step = await this.withDeadline('list', prefix, () => keys.next());
        if (step.done) return;
        if (isKey(step.value)) yield step.value;
      }
    } finally {
      iteration.abort();
      // Not awaited: an adapter that hangs would hold the caller beyond the deadline.
      keys.return?.().catch(() => undefined);
    }
  }

  /** Checks that the store works; used for readiness. @throws StorageUnavailable */
  async check(): Promise<void> {
    await this.withDeadline('check', '', (abort) => this.checkStore(abort));
  }

  /** Creates the folder or bucket if missing. Every start calls it, several replicas at once. @throws StorageUnavailable */
  async prepare(): Promise<void> {
    await this.withDeadline('prepare', '', (abort) => this.prepareStore(abort));
  }

  // The signal is aborted when a call has ended for any reason. I/O that is still in progress has to stop then.
  protected abstract putObject(key: string, body: Buffer, signal: AbortSignal): Promise<void>;
  protected abstract getObject(key: string, signal: AbortSignal): Promise<Buffer | undefined>;
  protected abstract deleteObject(key: string, signal: AbortSignal): Promise<void>;
  /** May yield invalid keys; {@link list} leaves them out. */
  protected abstract listObjects(prefix: string, signal: AbortSignal): AsyncIterable<string>;
  protected abstract checkStore(signal: AbortSignal): Promise<void>;
  protected abstract prepareStore(signal: AbortSignal): Promise<void>;

  private async withDeadline<T>(
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
    aborted.catch(() => undefined); // prevents an unhandled rejection if the race below never starts
    const timeout = () => call.abort(new Error(`no response within ${this.timeoutMs} ms`));
    const timer = setTimeout(timeout, this.timeoutMs);
    // Not AbortSignal.any: the outer signal would keep a reference to each combined signal for its whole life.
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
  if (!isKey(key)) throw new TypeError(`invalid key of object storage: ${JSON.stringify(key)}`);
}

/** A prefix is the beginning of a key, or empty. */
function assertPrefix(prefix: string): void {
  if (prefix !== '' && !isKey(prefix) && !isKey(`${prefix}x`)) {
    throw new TypeError(`invalid prefix of keys of object storage: ${JSON.stringify(prefix)}`);
  }
}
