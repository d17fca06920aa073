import type { BodyLoss } from '../store/documents.errors.js';

/** Problem of one document or object. */
export interface Finding {
  /** `document 7` or the key of an object. Never a title, a slug or a content. */
  readonly subject: string;
  readonly problem: Problem;
  /** Error of the storage for an `unreadable` object. */
  readonly reason?: string;
  readonly repaired: boolean;
}

/**
 * Kinds of problems:
 * - `missing`, `altered`: the body of a document is lost
 * - `unreadable`: the storage fails for this object only
 * - `unfinished`: an update stored its body and did not commit; the next read or write of the document completes it
 * - `orphan`: a body without a document
 * - `undeleted`: an orphan that could not be deleted
 * - `foreign`: an object whose key is no key of a body
 */
export type Problem = BodyLoss | 'unreadable' | 'unfinished' | 'orphan' | 'undeleted' | 'foreign';

/** Receives the progress and the findings of a check. */
export interface CheckObserver {
  /** Called once for each checked document or object. */
  onChecked(): void;
  onFinding(finding: Finding): void;
}
