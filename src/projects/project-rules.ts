import { DESCRIPTIONS_BYTES, DescriptionsTooLong } from './projects.errors.js';

/**
 * Rejects descriptions above the limit. An owner above the limit may still shorten descriptions.
 * @param bytes size of all descriptions of the owner after the change
 * @param bytesBefore their size before the change
 * @throws DescriptionsTooLong
 */
export function assertDescriptionsBounded(bytes: number, bytesBefore: number): void {
  if (bytes > Math.max(DESCRIPTIONS_BYTES, bytesBefore)) throw new DescriptionsTooLong();
}
