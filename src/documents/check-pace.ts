import { StorageUnavailable } from '../storage/storage.errors.js';

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

/** A storage that is slow for once does not end a check of hours. @throws StorageUnavailable after three attempts */
export async function patiently<T>(task: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await task();
    } catch (error) {
      if (!(error instanceof StorageUnavailable) || attempt === ATTEMPTS) throw error;
    }
  }
}
