/**
 * Object storage failed or did not answer in time. Not a refusal that a client could do anything about:
 * it is answered with 500, and the cause is for the log.
 */
export class StorageUnavailable extends Error {
  override readonly name = 'StorageUnavailable';

  constructor(what: string, cause?: unknown) {
    super(`object storage: ${what}`, { cause });
  }
}
