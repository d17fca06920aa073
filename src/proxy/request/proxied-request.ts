import { randomUUID } from 'node:crypto';
import type { HttpRequest } from '../../http/http-exchange.js';
import { requestIdFor } from '../../common/api/request-id.js';
import type { AuthenticatedKey } from '../../keys/key-authenticator.js';
import { EMPTY_BUFFER } from '../wire/empty-buffer.js';
import type { HeldBody } from './held-body.js';
import { NO_FIELDS } from './request-fields.js';
import { toUpstreamHeaderLines } from '../wire/wire-headers.js';

/** Request whose key was verified. Contains secrets and must not be logged. */
export class ProxiedRequest {
  /** Time of arrival, by `performance.now()`. */
  readonly beganAt = performance.now();
  readonly method: string;
  /** Path and query as received. */
  readonly target: string;
  readonly path: string;
  /** Fields of the body; empty until the body was read. */
  fields = NO_FIELDS;
  /** Whether the usage record was written. */
  isRecorded = false;
  /** Producer of the response, once it is chosen. */
  responder?: Responder = undefined;
  /** Reservation of a large body. */
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

  /** `X-Request-Id` of the request and its response. */
  get id(): string {
    return (this.ownId ??= requestIdFor(this.request));
  }

  /** Time of arrival; ISO 8601. */
  get arrivedAt(): string {
    return (this.ownTime ??= isoTime(this.arrivedAtMs));
  }

  /** Computes fields that the response and the record need. Called while the upstream works and no client waits. */
  computeIdAndTime(): void {
    void this.id;
    void this.arrivedAt;
  }

  /** Keeps the reservation of a large body. {@link fields} must be parsed already. */
  holdBody(held: HeldBody): void {
    this.held = held;
    held.addCopy(this.fields.bodyForUsage?.length ?? 0);
  }

  /** Frees the memory of the body, which no further upstream needs. */
  releaseBody(): void {
    if (!this.held) return;
    this.held.release();
    this.held = undefined;
    this.fields = { ...this.fields, body: EMPTY_BUFFER, bodyForUsage: undefined };
  }

  /** Unique id for the usage record. A request id that the client chose may not be unique and is not used. */
  createRecordId(): string {
    return this.request.headers['x-request-id'] === this.id ? randomUUID() : this.id;
  }

  /** Lines of the client's headers that upstreams receive. */
  upstreamHeaderLines(): string {
    return toUpstreamHeaderLines(this.request.rawHeaders, this.request.headers.connection);
  }
}

let lastTime = { at: NaN, text: '' };

/** Formats a time. Many requests arrive in the same millisecond, so the last text is reused. */
function isoTime(at: number): string {
  if (lastTime.at !== at) lastTime = { at, text: new Date(at).toISOString() };
  return lastTime.text;
}

function pathOf(url: string): string {
  const end = url.indexOf('?');
  return end < 0 ? url : url.slice(0, end);
}

/** Producer of the response to a request. */
export interface Responder {
  /** The response was sent or the client closed the connection. */
  onResponseClose(): void;
}
