import { setTimeout as pause } from 'node:timers/promises';
import { SettingsError } from '../config/environment.js';
import type { Settings } from '../config/settings.js';
import { StorageUnavailable } from './storage.errors.js';

/** Covers object storage that starts at the same time as the service, or does not respond for a moment. */
const RETRY_PERIOD_MS = 10_000;
const RETRY_INTERVAL_MS = 500;

/**
 * Runs a task of the start, and retries it while object storage is away.
 * @throws SettingsError when the store rejects the credentials, without a retry
 * @throws Error that names the setting
 */
export async function retryUntilAvailable(settings: Settings, task: () => Promise<void>): Promise<void> {
  const endsAt = performance.now() + RETRY_PERIOD_MS;
  for (;;) {
    try {
      return await task();
    } catch (error) {
      if (!(error instanceof StorageUnavailable)) throw error;
      if (error.isRejection) throw rejectedCredentials(error);
      if (performance.now() > endsAt) throw new Error(storeSetting(settings), { cause: error });
    }
    await pause(RETRY_INTERVAL_MS);
  }
}

/** Rejected credentials and missing rights stay rejected, so that a retry does not help. */
function rejectedCredentials({ cause }: StorageUnavailable): SettingsError {
  const { code = 'status 403', message } = cause as { code?: string; message?: string };
  return new SettingsError(
    `MINIO_ACCESS_KEY, MINIO_SECRET_KEY: the object storage rejects the key or denies it a right: ${code}, ${message}`,
  );
}

/** Name of the setting that selects the store. */
export function storeSetting({ minio }: Settings): string {
  return minio ? 'MINIO_ENDPOINT' : 'DATA_DIR';
}
