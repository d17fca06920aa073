import { messagesOf } from '../common/messages-of.js';
import type { ObjectStore } from '../storage/object-store.js';
import { StorageUnavailable } from '../storage/storage.errors.js';
import type { Finding } from './storage-finding.js';

/** Below what the storage gate lets in. */
const PARALLEL = 8;
const ATTEMPTS = 3;

/** Does the task for each item, a few at a time. */
export async function inTurns<T>(items: readonly T[], task: (item: T) => Promise<void>): Promise<void> {
  const waiting = items.values();
  const worker = async () => {
    for (const item of waiting) await task(item);
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
}

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
