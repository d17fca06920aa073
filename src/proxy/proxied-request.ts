import type { AuthenticatedKey } from '../keys/key-authenticator.js';
import type { RequestFields } from './request-fields.js';

/** A request whose key was verified, and whose body is here. Not to be logged. */
export interface ProxiedRequest {
  /** Its `X-Request-Id`. */
  readonly id: string;
  /** Unix time in milliseconds. */
  readonly arrivedAt: number;
  /** The same moment as `performance.now()` has it. */
  readonly beganAt: number;
  readonly key: AuthenticatedKey;
  readonly method: string;
  /** Path and query, as they came. */
  readonly target: string;
  readonly path: string;
  /** The client's headers that an upstream gets, as lines. */
  readonly lines: string;
  readonly fields: RequestFields;
}
