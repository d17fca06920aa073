/**
 * Object storage failed or did not respond in time. The client cannot do anything about it: the response has status
 * 500, and only the log has the cause.
 */
export class StorageUnavailable extends Error {
  override readonly name = 'StorageUnavailable';

  constructor(problem: string, cause?: unknown) {
    super(`object storage: ${problem}`, { cause });
  }
}
