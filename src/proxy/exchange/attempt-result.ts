import type { Target } from '../pool/targets.js';
import type { ResponseHeaders } from '../wire/response-headers.js';
import type { FailureKind } from '../wire/upstream-connection.js';

/** Attempt as usage records and metrics report it. */
export interface AttemptResult {
  readonly target: Target;
  /** Status of the response; null if there was none. */
  readonly status: number | null;
  readonly error: AttemptError | null;
  /** Time until the attempt was accepted or rejected. */
  readonly durationMs: number;
}

/** Reason for which a response was rejected. */
export type AttemptError = FailureKind | 'status' | 'redirect' | 'stream_error' | 'cancelled';

/**
 * - `waiting`: no response headers yet
 * - `undecided`: the headers are here; a stream stays undecided until its first event, other responses do not
 * - `decided`: accepted or rejected; the rest of the response is being read
 * - `ended`: the response is complete, though parts of it may still be buffered
 * - `aborted`: the response was interrupted, timed out or was cancelled
 */
export type AttemptState = 'waiting' | 'undecided' | 'decided' | 'ended' | 'aborted';

/** Receives a response that is relayed. */
export interface ResponseReceiver {
  /** Whether a part of the response was sent to the client. */
  readonly hasStarted: boolean;
  onResponseHeaders(headers: ResponseHeaders): void;
  /** @param chunk valid until this returns */
  onData(chunk: Buffer): void;
  /** All bytes of one socket read were delivered; the response continues. */
  onReadEnd(): void;
  onEnd(): void;
  /** The response ended before its regular end. */
  onInterrupted(): void;
}
