import { errorMessage } from '../../common/logging/error-message.js';
import type { ObjectStore } from '../../storage/object-store.js';
import { StorageUnavailable } from '../../storage/storage.errors.js';
import type { Finding } from './storage-finding.js';

/** Concurrency of checks; below the capacity of the storage semaphore. */
export const CHECK_CONCURRENCY = 8;
const ATTEMPTS = 3;

/**
 * Checks one document or object, and retries while the storage fails. A check of the whole storage takes hours, so
 * neither a slow moment nor one unreadable object ends it: an unreadable object is a finding.
 * @throws StorageUnavailable when the whole storage is away
 */
export async function checkWithRetries(
  subject: string,
  store: ObjectStore,
  check: () => Promise<Finding | undefined>,
): Promise<Finding | undefined> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await check();
    } catch (error) {
      if (!(error instanceof StorageUnavailable)) throw error;
      if (attempt < ATTEMPTS) continue;
      await store.check();
      return { subject, problem: 'unreadable', reason: errorMessage(error), repaired: false };
    }
  }
}
