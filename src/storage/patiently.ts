import { setTimeout as pause } from 'node:timers/promises';
import type { Settings } from '../config/settings.js';
import { StorageUnavailable } from './storage.errors.js';

/** For object storage that is started at the same time, or does not answer for a moment. */
const PATIENCE_MS = 10_000;
const RETRY_INTERVAL_MS = 500;

/**
 * What a start does with object storage, tried again while that is away.
 * @throws Error that names the setting
 */
export async function patiently(settings: Settings, task: () => Promise<void>): Promise<void> {
  const patienceEndsAt = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await task();
    } catch (error) {
      if (!(error instanceof StorageUnavailable)) throw error;
      if (performance.now() > patienceEndsAt) throw new Error(storeSetting(settings), { cause: error });
    }
    await pause(RETRY_INTERVAL_MS);
  }
}

/** The setting that says where the store is. */
export function storeSetting({ minio }: Settings): string {
  return minio ? 'MINIO_ENDPOINT' : 'DATA_DIR';
}
