import { randomUUID } from 'node:crypto';
import type { HttpRequest } from '../common/http-exchange.js';
import { requestIdFor } from '../common/request-id.js';
import type { AuthenticatedKey } from '../keys/key-authenticator.js';
import type { HeldBody } from './body-memory.js';
import { EMPTY } from './empty.js';
import { UNREAD } from './request-fields.js';
import { linesToUpstream } from './wire-headers.js';

/** Whoever makes the answer to a request. */
export interface Answering {
  /** The response is closed: the client has its answer, or has left. */
  closed(): void;
}

/** A request whose key was verified. Not to be logged. */
export class ProxiedRequest {
  /** When it arrived, as `performance.now()` has it. */
  readonly beganAt = performance.now();
  readonly method: string;
  /** Path and query, as they came. */
  readonly target: string;
  readonly path: string;
  /** What its body says, once that is here. */
  fields = UNREAD;
  /** Whether it is recorded. */
  isOver = false;
  /** Who makes its answer, once that is decided. */
  answering?: Answering = undefined;
  /** What its body takes of the memory for bodies, where it takes anything. */
  private held?: HeldBody = undefined;
  private readonly arrivedAtMs = Date.now();
  private ownId?: string = undefined;
  private ownTime?: string = undefined;

  constructor(
    readonly key: AuthenticatedKey,
    private readonly request: HttpRequest,
  ) {
    const { method = 'GET', url = '/v1' } = request;
    this.method = method;
    this.target = url;
    this.path = pathOf(url);
  }

  /** Its `X-Request-Id`. */
  get id(): string {
    return (this.ownId ??= requestIdFor(this.request));
  }

  /** When it arrived; ISO 8601. */
  get arrivedAt(): string {
    return (this.ownTime ??= isoTime(this.arrivedAtMs));
  }

  /** Makes what its answer and its record need: while the upstream works, and not when the client waits. */
  prepareAnswer(): void {
    void this.id;
    void this.arrivedAt;
  }

  /** Of a body that is large, once its fields are read. */
  keepBody(held: HeldBody): void {
    this.held = held;
    held.take(this.fields.bodyForUsage?.length ?? 0);
  }

  /** Nobody is going to be sent it any more. */
  dropBody(): void {
    if (!this.held) return;
    this.held.release();
    this.held = undefined;
    this.fields = { ...this.fields, body: EMPTY, bodyForUsage: undefined };
  }

  /** For its record: the request's id, unless the client has chosen that. */
  get recordId(): string {
    return this.request.headers['x-request-id'] === this.id ? randomUUID() : this.id;
  }

  /** The client's headers that an upstream gets, as lines. */
  get lines(): string {
    return linesToUpstream(this.request.rawHeaders, this.request.headers.connection);
  }
}

let lastTime = { at: NaN, text: '' };

/** Many requests arrive in the same millisecond. */
function isoTime(at: number): string {
  if (lastTime.at !== at) lastTime = { at, text: new Date(at).toISOString() };
  return lastTime.text;
}

function pathOf(url: string): string {
  const end = url.indexOf('?');
  return end < 0 ? url : url.slice(0, end);
}
