/** Error codes with the status 403 (Amazon S3 API reference, "Error responses"). The client derives the first from a bare 403. */
const REJECTIONS = new Set([
  'AccessDenied',
  'AllAccessDisabled',
  'ExpiredToken',
  'InvalidAccessKeyId',
  'InvalidSecurity',
  'RequestTimeTooSkewed',
  'SignatureDoesNotMatch',
]);

/**
 * Object storage failed or did not respond in time. The client cannot do anything about it: the response has status
 * 500, and only the log has the cause.
 */
export class StorageUnavailable extends Error {
  override readonly name = 'StorageUnavailable';

  constructor(problem: string, cause?: unknown) {
    super(`object storage: ${problem}`, { cause });
  }

  /** Whether the store rejected the credentials, or a right is missing (S3: status 403). */
  get isRejection(): boolean {
    return REJECTIONS.has(String((this.cause as { code?: unknown } | undefined)?.code));
  }
}
