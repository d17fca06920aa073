import { GrowingBuffer } from '../../../common/body/growing-buffer.js';
import type { HttpRequest } from '../../../http/http-exchange.js';
import type { BodyBudget } from './body-budget.js';
import { EMPTY_BUFFER } from '../../wire/empty-buffer.js';
import { LARGE_BODY_BYTES } from './held-body.js';
import type { HeldBody } from './held-body.js';

/**
 * Reads a whole body, because it may have to be sent to several upstreams. Calls one method of `listener`, or none if the
 * client closes the connection. The server discards the rest of a rejected body.
 */
export function readBody(request: HttpRequest, bounds: BodyBounds, listener: BodyListener): void {
  const { headers } = request;
  const announced = headers['content-length'];
  if (announced === undefined && headers['transfer-encoding'] === undefined)
    return listener.onRead(EMPTY_BUFFER);
  if (Number(announced) > bounds.limitBytes) return listener.onTooLarge();
  new BodyReader(request, Number(announced), bounds, listener).start(); // NaN if the body is chunked
}

/**
 * Its listeners are closures over the reader. As closures in its fields, they made V8 allocate each reader in the old
 * generation, where it kept all objects of its request until the next full collection: 10 µs per request with Node 24.
 */
class BodyReader {
  private body?: GrowingBuffer = undefined;
  private held?: HeldBody = undefined;
  private isRejected = false;

  /** @param expectedBytes NaN if the length is unknown */
  constructor(
    private readonly request: HttpRequest,
    private readonly expectedBytes: number,
    private readonly bounds: BodyBounds,
    private readonly listener: BodyListener,
  ) {}

  start(): void {
    this.request.on('data', (chunk) => this.onData(chunk));
    if (!(this.expectedBytes > 0)) this.request.on('end', () => this.onEnd());
  }

  private onData(chunk: Buffer): void {
    const { expectedBytes, bounds } = this;
    if (this.isRejected) return;
    if (chunk.length === expectedBytes) return this.listener.onRead(chunk);
    this.body ??= new GrowingBuffer(expectedBytes);
    this.body.append(chunk);
    if (this.body.length > bounds.limitBytes) return this.reject(() => this.listener.onTooLarge());
    this.held?.onData(chunk.length);
    if (this.body.length === expectedBytes) return this.onEnd(); // without waiting for the end event
    if (!this.held && Math.max(expectedBytes || 0, this.body.length) > LARGE_BODY_BYTES) this.hold();
  }

  private onEnd(): void {
    if (this.isRejected) return;
    const { held } = this;
    this.held = undefined; // the listener releases it from now on
    held?.onEnd();
    this.listener.onRead(this.body?.bytes ?? EMPTY_BUFFER, held);
  }

  private hold(): void {
    const { request, expectedBytes, bounds } = this;
    const size = { wantedBytes: expectedBytes || bounds.limitBytes, arrivedBytes: this.body!.length };
    request.once('close', () => this.held?.release());
    this.held = bounds.budget.hold(request, bounds.ownerId, size, () =>
      this.reject(() => this.listener.onTooSlow()),
    );
  }

  private reject(notify: () => void): void {
    this.isRejected = true;
    this.held?.release();
    notify();
  }
}

/** Receiver of the outcome of {@link readBody}. */
export interface BodyListener {
  /** @param held reservation of a large body; must be released when the body is no longer needed */
  onRead(body: Buffer, held?: HeldBody): void;
  onTooLarge(): void;
  onTooSlow(): void;
}

/** Limits of one body and the memory that it is charged to. */
export interface BodyBounds {
  /** Maximum number of bytes, in the encoding in which they arrive. */
  readonly limitBytes: number;
  readonly budget: BodyBudget;
  /** Id of the organization that the memory is charged to. */
  readonly ownerId: number;
}
