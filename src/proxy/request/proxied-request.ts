import { randomUUID } from 'node:crypto';
import type { HttpRequest } from '../../http/http-exchange.js';
import { requestIdFor } from '../../common/api/request-id.js';
import type { AuthenticatedKey } from '../../keys/key-authenticator.js';
import type { OwnPrices } from '../../prices/own-prices.js';
import { parseRequestTarget } from '../../upstreams/target-url.js';
import type { RequestTarget } from '../../upstreams/target-url.js';
import { EMPTY_BUFFER } from '../wire/empty-buffer.js';
import { applyEdits } from './model/edit.js';
import type { Edit } from './model/edit.js';
import { hasSecondFormModel } from './model/form-model.js';
import type { HeldBody } from './body/held-body.js';
import { modelEdit } from './model/requested-model.js';
import { findProxyKey } from './proxy-credential.js';
import { NO_FIELDS } from './model/request-fields.js';
import { toUpstreamHeaderLines } from '../wire/wire-headers.js';

const NO_HEADERS: readonly string[] = [];

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
  /** Body of the last attempt, if it differs from the client's. */
  private edited?: EditedBody = undefined;
  /** Own prices of the owner, once the pool was loaded. */
  prices?: OwnPrices = undefined;
  /** Headers of the limits that apply: alternating names and values. */
  limitHeaders: readonly string[] = NO_HEADERS;
  /** Unix time of the arrival. */
  readonly arrivedAtMs = Date.now();
  private ownId?: string = undefined;
  private ownTime?: string = undefined;
  private parsedTarget?: RequestTarget = undefined;

  constructor(
    /** Replaced when the key is verified again. */
    public key: AuthenticatedKey,
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

  /** Target for upstreams, parsed once; undefined if it leads to none. */
  get requestTarget(): RequestTarget | undefined {
    return (this.parsedTarget ??= parseRequestTarget(this.target));
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
  }

  /**
   * Returns the body for an upstream; every byte that is not edited stays as it was. The last edited body is kept for the
   * next upstream.
   * @param upstreamModel name of the model at the upstream; null for the name that the client requested
   * @param addsUsage whether the body gets `stream_options.include_usage`
   */
  bodyFor(upstreamModel: string | null, addsUsage: boolean): Buffer {
    const last = this.edited;
    if (upstreamModel === null && !addsUsage) return this.fields.body;
    if (last?.upstreamModel === upstreamModel && last.addsUsage === addsUsage) return last.body;
    const edits = this.editsFor(upstreamModel, addsUsage);
    if (edits.length === 0) return this.fields.body;
    const body = applyEdits(this.fields.body, edits);
    this.held?.addCopy(body.length - (last?.body.length ?? 0));
    this.edited = { upstreamModel, addsUsage, body };
    return body;
  }

  private editsFor(upstreamModel: string | null, addsUsage: boolean): Edit[] {
    const { usageEdit, requestedModel } = this.fields;
    const model = upstreamModel === null ? undefined : modelEdit(requestedModel!, upstreamModel);
    return [addsUsage ? usageEdit : undefined, model].filter((edit) => edit !== undefined);
  }

  /** Frees the memory of the body, which no further upstream needs. */
  releaseBody(): void {
    this.edited = undefined;
    if (!this.held) return;
    this.held.release();
    this.held = undefined;
    this.fields = { ...this.fields, body: EMPTY_BUFFER };
  }

  /** Unique id for the usage record. A request id that the client chose may not be unique and is not used. */
  createRecordId(): string {
    return this.request.headers['x-request-id'] === this.id ? randomUUID() : this.id;
  }

  /** Whether the body is a form with several fields `model`. */
  hasSecondFormModel(): boolean {
    return hasSecondFormModel(this.fields.body, this.request.headers['content-type']);
  }

  /** Value of a header of the client. */
  header(name: 'sec-websocket-protocol'): string | undefined {
    return this.request.headers[name];
  }

  /** Proxy key that the client sent. */
  get secret(): string {
    return findProxyKey(this.request.headers)!;
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

interface EditedBody {
  readonly upstreamModel: string | null;
  readonly addsUsage: boolean;
  readonly body: Buffer;
}

/** Producer of the response to a request. */
export interface Responder {
  /** The response was sent or the client closed the connection. */
  onResponseClose(): void;
}
