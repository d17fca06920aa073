import type { BodyLoss } from './documents.errors.js';

/** Something about a document or an object that is not as it should be, or that waits to be put right. */
export interface Finding {
  /** `document 7` or the key of an object: never a title, a slug or a content. */
  readonly subject: string;
  /**
   * `missing` and `altered` bodies; an object that is `unreadable`; an `unfinished` update, which the next read or write of the document finishes;
   * a body without a document (`stray`), also one that was to be repaired (`undeleted`); an object that is no body of ours (`foreign`).
   */
  readonly problem: BodyLoss | 'unreadable' | 'unfinished' | 'stray' | 'undeleted' | 'foreign';
  /** What the storage says of an `unreadable` one. */
  readonly reason?: string;
  readonly repaired: boolean;
}

/** Who is told of a check as it goes on. */
export interface CheckObserver {
  /** One more is done with. */
  checked(): void;
  found(finding: Finding): void;
}
