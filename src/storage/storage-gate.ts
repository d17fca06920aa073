import { Injectable } from '@nestjs/common';
import { Gate } from '../common/gate.js';
import { STORAGE_TIMEOUT_MS } from './object-store.js';
import { StorageUnavailable } from './storage.errors.js';

/**
 * Limits how many database transactions wait for object storage at once, so that a store that hangs does not use
 * up the database's connections. A task passes the gate before it takes its connection, and does not
 * pass it again while it is inside.
 */
@Injectable()
export class StorageGate extends Gate {
  /** @param capacity how many may be inside at once: half of the connection pool */
  constructor(capacity: number, timeoutMs: number = STORAGE_TIMEOUT_MS) {
    super(capacity, timeoutMs, (waitedMs) => {
      return new StorageUnavailable(`too many are waiting for it: no room within ${waitedMs} ms`);
    });
  }
}
