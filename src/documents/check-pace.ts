import { messagesOf } from '../common/messages-of.js';
import type { ObjectStore } from '../storage/object-store.js';
import { StorageUnavailable } from '../storage/storage.errors.js';
import type { Finding } from './storage-finding.js';

/** How many are checked at a time: below what the storage gate lets in. */
export const CHECKED_AT_ONCE = 8;
const ATTEMPTS = 3;

/**
 * What the check of one finds. Neither a storage that is slow for once nor a body that cannot be read ends a check
 * of hours: the latter is a finding, while the storage as a whole answers.
 * @throws StorageUnavailable when it does not
 */
export async function findPatiently(
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
      return { subject, problem: 'unreadable', reason: messagesOf(error), repaired: false };
    }
  }
}
