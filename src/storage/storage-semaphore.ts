import { Injectable } from '@nestjs/common';
import { Semaphore } from '../common/async/semaphore.js';
import { STORAGE_TIMEOUT_MS } from './object-store.js';
import { StorageUnavailable } from './storage.errors.js';

/**
 * Limits how many database transactions wait for object storage at once, so that a store that hangs does not use up
 * the database connections. A task enters the semaphore before it takes its connection, and never enters it twice.
 */
@Injectable()
export class StorageSemaphore extends Semaphore {
  /** @param capacity maximum number of tasks that run at once: half of the connection pool */
  constructor(capacity: number, timeoutMs: number = STORAGE_TIMEOUT_MS) {
    super(capacity, timeoutMs, (waitedMs) => {
      return new StorageUnavailable(
        `too many concurrent requests: no place became free within ${waitedMs} ms`,
      );
    });
  }
}
