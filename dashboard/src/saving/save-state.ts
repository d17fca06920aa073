import { ApiError } from '../api/errors';
import { SERVER_ERROR } from '../api/statuses';

/** Text and title with the version that the service has of them. */
export interface Version {
  readonly content: string;
  readonly title: string;
  readonly etag: string;
}

/** Members of a document that have changed. */
export interface Change {
  readonly content?: string;
  readonly title?: string;
}

/**
 * - `unreachable`: the service does not respond, and the saver tries again.
 * - `waiting`: the session has expired.
 * - `conflict`: the service has another text, and a person has to merge.
 * - `rejected`: the service does not accept the text.
 */
export type SaveStatus = 'saved' | 'unsaved' | 'saving' | 'unreachable' | 'waiting' | 'conflict' | 'rejected';

/** Progress of saving, as the editor shows it. */
export interface SaveState {
  readonly status: SaveStatus;
  /** Version of the service during a conflict. */
  readonly server?: Version;
  /** Last rejection. It stays until a save succeeds, so that its explanation does not flicker while typing. */
  readonly error?: unknown;
}

/** Rejections that a later attempt can pass: timeout and too many requests. */
const TRANSIENT: readonly number[] = [408, 429];

/** Whether the service does not accept the text, so that another attempt does not help. */
export function isRejection(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status < SERVER_ERROR && !TRANSIENT.includes(error.status);
}
