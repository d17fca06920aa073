import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { ClientBase } from 'pg';
import { DataSource, QueryRunnerAlreadyReleasedError } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { KeyedSemaphore } from '../../common/async/semaphore.js';
import { retryOnLockTimeout } from '../../database/transactions/retry-on-lock-timeout.js';
import { ObjectStore } from '../../storage/object-store.js';
import { StorageSemaphore } from '../../storage/storage-semaphore.js';

/** Connection that holds the lock of one document. */
export interface LockedDocument {
  /** Commits each statement at once. */
  readonly connection: EntityManager;
  /** Aborts all waiting for object storage. The time counts from before the wait for the lock. */
  readonly deadline: AbortSignal;
  readonly runInTransaction: <T>(work: (transaction: EntityManager) => Promise<T>) => Promise<T>;
}

/** Work of one transaction under the lock of a document. */
export type LockedWork<T> = (transaction: EntityManager, deadline: AbortSignal) => Promise<T>;

/**
 * Admits one writer of a document at a time, on all replicas and across several transactions of that writer. The
 * lock is an advisory lock of the writer's connection, which PostgreSQL releases when the process dies.
 *
 * A writer waits in this order, while it holds the following:
 * 1. earlier writers of the document on this replica: holds nothing;
 * 2. the {@link StorageSemaphore}: is this replica's writer of the document;
 * 3. a connection: also holds a place in the semaphore, which has fewer places than the pool has connections;
 * 4. the advisory lock, against writers on other replicas: also holds a connection;
 * 5. rows and object storage: holds all of these. A wait for rows is short: after a lock timeout, the writer
 *    releases 2 to 4 and retries ({@link retryOnLockTimeout}).
 */
@Injectable()
export class DocumentLock {
  /** Queues the writers of one document, so that each place in the storage semaphore serves a different document. */
  private readonly writers: KeyedSemaphore<number>;
  private readonly timeoutMs: number;

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly semaphore: StorageSemaphore,
    { timeoutMs }: ObjectStore,
  ) {
    this.timeoutMs = timeoutMs;
    this.writers = new KeyedSemaphore(() => new StorageSemaphore(1, timeoutMs));
  }

  /**
   * Runs `work` while this replica holds the lock of the document.
   * @param waitMs maximum time until the work begins
   * @throws StorageUnavailable when the work has not begun by then
   */
  async run<T>(
    documentId: number,
    work: (locked: LockedDocument) => Promise<T>,
    waitMs = this.timeoutMs,
  ): Promise<T> {
    const deadline = AbortSignal.timeout(this.timeoutMs);
    const waitEndsAt = performance.now() + waitMs;
    const remainingMs = () => Math.max(1, waitEndsAt - performance.now());
    const write = (lockTimeoutMs: number) =>
      this.semaphore.run(() => this.runLocked(documentId, { deadline, lockTimeoutMs }, work), remainingMs());
    return this.writers.run(documentId, () => retryOnLockTimeout(write, remainingMs()), waitMs);
  }

  /** {@link run} with all of the work in one transaction. */
  runInTransaction<T>(documentId: number, work: LockedWork<T>): Promise<T> {
    return this.run(documentId, inTransaction(work));
  }

  /** {@link runInTransaction} for work that needs no storage. Waits until every earlier writer has timed out. */
  runAfterWriters<T>(documentId: number, work: LockedWork<T>): Promise<T> {
    return this.run(documentId, inTransaction(work), 2 * this.timeoutMs);
  }

  private async runLocked<T>(
    documentId: number,
    { deadline, lockTimeoutMs }: { deadline: AbortSignal; lockTimeoutMs: number },
    work: (locked: LockedDocument) => Promise<T>,
  ): Promise<T> {
    const runner = this.dataSource.createQueryRunner();
    const { manager: connection } = runner;
    const runInTransaction = async <R>(inner: (transaction: EntityManager) => Promise<R>): Promise<R> => {
      await runner.startTransaction();
      try {
        const result = await inner(connection);
        await runner.commitTransaction();
        return result;
      } catch (error) {
        await runner.rollbackTransaction().catch(() => undefined); // the first error is the one to report
        throw error;
      }
    };
    const client = (await runner.connect()) as ClientBase;
    let lostFor: Error | undefined;
    const onLost = (reason: Error) => (lostFor ??= reason);
    client.on('error', onLost);
    try {
      // The timeout applies to row locks only: the wait for the advisory lock comes before it.
      await runner.query(`SELECT pg_advisory_lock(${documentId}); SET lock_timeout = ${lockTimeoutMs}`);
      return await work({ connection, deadline, runInTransaction });
    } catch (error) {
      throw explain(error, lostFor);
    } finally {
      client.off('error', onLost);
      await runner.query('SELECT pg_advisory_unlock_all(); RESET lock_timeout').catch(() => undefined);
      await runner.release();
    }
  }
}

/** Error for the log: TypeORM reports a lost connection only as a released runner. */
function explain(error: unknown, reason: Error | undefined): unknown {
  const isHidden = reason !== undefined && error instanceof QueryRunnerAlreadyReleasedError;
  return isHidden ? new Error('the connection to PostgreSQL ended', { cause: reason }) : error;
}

function inTransaction<T>(work: LockedWork<T>): (locked: LockedDocument) => Promise<T> {
  return ({ runInTransaction, deadline }) => runInTransaction((transaction) => work(transaction, deadline));
}
