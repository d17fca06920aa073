import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { Gates } from '../common/gate.js';
import { yielding } from '../database/yielding.js';
import { STORAGE_TIMEOUT_MS } from '../storage/object-store.js';
import { StorageGate } from '../storage/storage-gate.js';

/** The connection that holds the lock of one document. */
export interface LockedDocument {
  readonly manager: EntityManager;
  /** When all waiting for object storage has to end, the wait for the lock included. */
  readonly deadline: AbortSignal;
  /** Runs `work`, which uses the `manager`, in a transaction. */
  transaction<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * One writer of a document at a time, on all replicas, also across several transactions of that writer: an
 * advisory lock of its connection, which PostgreSQL lets go when the process dies. Who holds it may wait for
 * object storage, and so passes the gate first.
 *
 * Who waits for what, in this order, and with what in hand:
 * 1. for earlier writers of the document on this replica: with nothing;
 * 2. at the gate for those on this replica who wait for storage: as this replica's writer of the document;
 * 3. for a connection: with a place in the gate, too, which has fewer of them than there are connections;
 * 4. for the advisory lock, which writers on other replicas may hold: with a connection, too;
 * 5. for rows and the storage: with all of that. For rows only a moment: then 2 to 4 are let go ({@link yielding}).
 */
@Injectable()
export class DocumentLock {
  /** Writers of one document, on this replica, wait for each other before the gate: its places are for different ones. */
  private readonly writers = new Gates<number>(() => new StorageGate(1));

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly gate: StorageGate,
  ) {}

  /** @throws StorageUnavailable when it takes too long to get past the writers who wait for the storage */
  async run<T>(
    documentId: number,
    work: (locked: LockedDocument) => Promise<T>,
    patienceMs = STORAGE_TIMEOUT_MS,
  ): Promise<T> {
    const deadline = AbortSignal.timeout(STORAGE_TIMEOUT_MS);
    const patienceEndsAt = performance.now() + patienceMs;
    const patienceLeftMs = () => Math.max(1, patienceEndsAt - performance.now());
    const write = (lockTimeoutMs: number) =>
      this.gate.run(() => this.locked(documentId, { deadline, lockTimeoutMs }, work), patienceLeftMs());
    return this.writers.run(documentId, () => yielding(write, patienceLeftMs()), patienceMs);
  }

  private async locked<T>(
    documentId: number,
    { deadline, lockTimeoutMs }: { deadline: AbortSignal; lockTimeoutMs: number },
    work: (locked: LockedDocument) => Promise<T>,
  ): Promise<T> {
    const connection = this.dataSource.createQueryRunner();
    const { manager } = connection;
    const transaction = async <R>(inner: () => Promise<R>): Promise<R> => {
      await connection.startTransaction();
      try {
        const result = await inner();
        await connection.commitTransaction();
        return result;
      } catch (error) {
        await connection.rollbackTransaction().catch(() => undefined); // the first error is the one to tell
        throw error;
      }
    };
    try {
      // The timeout is for rows, which not all who hold them have locked in this way; for the lock itself there is none.
      await connection.query(`SELECT pg_advisory_lock(${documentId}); SET lock_timeout = ${lockTimeoutMs}`);
      return await work({ manager, deadline, transaction });
    } finally {
      await connection.query('SELECT pg_advisory_unlock_all(); RESET lock_timeout').catch(() => undefined);
      await connection.release();
    }
  }

  /** {@link run} with all of the work in one transaction. */
  transaction<T>(documentId: number, work: (locked: LockedDocument) => Promise<T>): Promise<T> {
    return this.run(documentId, (locked) => locked.transaction(() => work(locked)));
  }

  /**
   * {@link transaction} for work that does not need the storage and is not to fail with it: outlasts everyone
   * who has come before.
   */
  patientTransaction<T>(documentId: number, work: (locked: LockedDocument) => Promise<T>): Promise<T> {
    const transaction = (locked: LockedDocument) => locked.transaction(() => work(locked));
    return this.run(documentId, transaction, 2 * STORAGE_TIMEOUT_MS);
  }
}
