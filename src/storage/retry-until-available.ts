import { setTimeout as pause } from 'node:timers/promises';
import type { Settings } from '../config/settings.js';
import { StorageUnavailable } from './storage.errors.js';

/** Covers object storage that starts at the same time as the service, or does not respond for a moment. */
const RETRY_PERIOD_MS = 10_000;
const RETRY_INTERVAL_MS = 500;

/**
 * Runs a task of the start, and retries it while object storage is away.
 * @throws Error that names the setting
 */
export async function retryUntilAvailable(settings: Settings, task: () => Promise<void>): Promise<void> {
  const endsAt = performance.now() + RETRY_PERIOD_MS;
  for (;;) {
    try {
      return await task();
    } catch (error) {
      if (!(error instanceof StorageUnavailable)) throw error;
      if (performance.now() > endsAt) throw new Error(storeSetting(settings), { cause: error });
    }
    await pause(RETRY_INTERVAL_MS);
  }
}

/** Name of the setting that selects the store. */
export function storeSetting({ minio }: Settings): string {
  return minio ? 'MINIO_ENDPOINT' : 'DATA_DIR';
}
