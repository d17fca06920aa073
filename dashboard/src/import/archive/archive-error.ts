/** Archive that cannot be imported. Nothing of it is. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError';
}
