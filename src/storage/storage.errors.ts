const FORBIDDEN = 403;
/** Error codes of a rejection (Amazon S3 API reference, "Error responses"), which some services send with another status. */
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

  /** Whether the store rejected the credentials, or a right is missing (S3: status 403, with any body). */
  get isRejection(): boolean {
    const { status, code } = (this.cause ?? {}) as { status?: unknown; code?: unknown };
    return status === FORBIDDEN || REJECTIONS.has(String(code));
  }
}
