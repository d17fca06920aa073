import type { HttpResponse } from '../../http/http-exchange.js';
import { STRING_LIMIT_BYTES } from '../../http/string-limit.js';
import { createRejection } from '../errors/proxy-error.js';
import { JsonMeter } from '../metering/json-meter.js';
import { NoMeter } from '../metering/meter.js';
import type { Meter } from '../metering/meter.js';
import { StreamMeter } from '../metering/stream-meter.js';
import type { ProxiedRequest } from '../request/proxied-request.js';
import { EMPTY_BUFFER } from '../wire/empty-buffer.js';
import { isEventStream } from '../wire/response-headers.js';
import type { ResponseHeaders } from '../wire/response-headers.js';
import {
  addVary,
  mergeSetHeaders,
  requestIdHeaders,
  toClientHeaders,
  withLimitHeaders,
} from '../wire/wire-headers.js';
import type { ResponseReceiver } from './attempt-result.js';
import { EventBoundary, interruptionEvent, isResponsesPath, SequenceTracker } from './interruption-event.js';

/** Chunks of at least this size fill the socket's queue before its entries become many. */
const LARGE_BYTES = 4_096;
const INITIAL_METER: Meter = Object.freeze(new NoMeter());

/** Relays one response to the client as it arrives, and reads the usage in it. */
export class Relay implements ResponseReceiver {
  meter: Meter = INITIAL_METER;
  /** Whether mintkeep asked for the usage event of the stream, so that the client must not get that event. */
  dropsUsage = false;
  hasStarted = false;
  private upstream: ResponseHeaders;
  private isStream = false;
  private isWaiting = false;
  /** Bytes of the body that are still to be sent, if the body has a known length. */
  private bytesLeft = Infinity;
  /** End of a body with a known length: the client takes it for the end of the response. */
  private last: Buffer | string = EMPTY_BUFFER;
  /** Set for event streams. */
  private boundary?: EventBoundary;
  /** Set for streams of OpenAI's Responses. */
  private sequence?: SequenceTracker;

  constructor(
    private readonly request: ProxiedRequest,
    private readonly response: HttpResponse,
    private readonly listener: RelayListener,
  ) {}

  get isEventStream(): boolean {
    return this.isStream;
  }

  onResponseHeaders(headers: ResponseHeaders): void {
    this.upstream = headers;
    this.isStream = isEventStream(headers.contentType);
    this.meter = this.createMeter(headers);
    this.dropsUsage &&= this.isStream;
    if (!this.isStream) {
      if (typeof headers.framing === 'number') this.bytesLeft = headers.framing;
      return;
    }
    this.boundary = new EventBoundary();
    if (isResponsesPath(this.request.path)) this.sequence = new SequenceTracker();
    this.listener.onStreamStart();
  }

  /**
   * Sends a chunk, except the last bytes of a body with a known length: these wait for {@link onEnd}. A client that has
   * all announced bytes takes the response for complete, so the record must be in the journal before. A body without
   * a known length ends with `response.end`, which follows the record anyway.
   */
  onData(chunk: Buffer): void {
    const isLast = chunk.length === this.bytesLeft;
    if (isLast && chunk.length <= STRING_LIMIT_BYTES) this.holdLast(chunk);
    else this.write(this.meter.transform(Buffer.from(chunk)));
  }

  onReadEnd(): void {
    if (this.hasStarted || this.response.destroyed) return;
    this.sendHeaders();
    this.response.flushHeaders();
  }

  onEnd(): void {
    this.write(this.meter.flush());
    this.listener.onResponseComplete(() => {
      if (this.response.destroyed) return;
      if (!this.hasStarted) this.sendHeaders();
      this.response.end(this.last, 'latin1');
    });
  }

  /** Ends the connection without a regular end of the body, so that the client does not take the response for complete. */
  onInterrupted(): void {
    this.listener.onResponseInterrupted(() => {
      const { response, request } = this;
      if (!this.isStream || this.upstream.isEncoded || response.destroyed) {
        setImmediate(() => breakConnection(response)); // after the writes of this turn of the event loop
        return;
      }
      if (!this.hasStarted) this.sendHeaders();
      const { body } = createRejection({ code: 'stream_interrupted' }, request.id);
      const event = this.boundary!.separator + interruptionEvent(request.path, body, this.sequence?.next);
      response.write(event, () => response.socket?.destroySoon());
    });
  }

  private createMeter({ status, contentType, isEncoded }: ResponseHeaders): Meter {
    if (status >= 300 || isEncoded) return new NoMeter();
    if (this.isStream) return new StreamMeter(this.dropsUsage);
    return contentType.startsWith('application/json') ? new JsonMeter() : new NoMeter();
  }

  private sendHeaders(): void {
    this.hasStarted = true;
    this.request.releaseBody(); // no other upstream can be tried any more
    const headers = addVary(toClientHeaders(this.upstream.rawHeaders));
    headers.push(...requestIdHeaders(this.request.id));
    const limited = withLimitHeaders(headers, this.request.limitHeaders);
    const sent = this.isStream ? removeLength(limited) : limited;
    this.response.writeHead(this.upstream.status, mergeSetHeaders(this.response, sent));
  }

  /**
   * Keeps the last chunk as a string, which one write sends together with the headers if they were not sent yet.
   * @param chunk read by the meter once more at the end of the response, before the next socket read
   */
  private holdLast(chunk: Buffer): void {
    this.meter.transform(chunk);
    this.last = chunk.toString('latin1');
    this.bytesLeft = 0;
  }

  private write(chunk: Buffer): void {
    if (chunk.length === 0 || this.response.destroyed) return;
    this.bytesLeft -= chunk.length;
    if (this.bytesLeft === 0) {
      this.last = chunk;
      return;
    }
    if (!this.hasStarted) this.sendHeaders();
    this.boundary?.onData(chunk);
    this.sequence?.onData(chunk);
    this.send(chunk);
  }

  private send(chunk: Buffer): void {
    const { response } = this;
    const isCongested = chunk.length < LARGE_BYTES && response.socket?.writableLength !== 0;
    const hasRoom = response.write(chunk);
    if (!this.isWaiting && (isCongested || !hasRoom)) this.waitForClient(hasRoom);
  }

  /**
   * Pauses the upstream until the client's socket is drained. After a small chunk this also happens while the socket's
   * queue has room: Node limits the bytes of that queue but not its entries, and one-byte packets would fill the queue
   * with thousands of objects.
   */
  private waitForClient(hasRoom: boolean): void {
    const { response } = this;
    const resume = () => {
      this.isWaiting = false;
      this.listener.onDrain();
    };
    this.isWaiting = true;
    this.listener.onBackpressure();
    if (hasRoom) response.write('', resume);
    else response.once('drain', resume);
  }
}

/** Receives the events of a {@link Relay}. */
export interface RelayListener {
  /** The client is too slow: the upstream must be paused until {@link onDrain}. */
  onBackpressure(): void;
  onDrain(): void;
  /** The response is an event stream. */
  onStreamStart(): void;
  /** @param deliver sends the end of the response; to be called after the request was recorded */
  onResponseComplete(deliver: () => void): void;
  /** @param deliver tells the client that the response is interrupted; to be called after the request was recorded */
  onResponseInterrupted(deliver: () => void): void;
}

/** Resets HTTP/1.0 connections, because their regular end may be the end of the body. */
function breakConnection(response: HttpResponse): void {
  if (response.req.httpVersion === '1.0') response.socket?.resetAndDestroy();
  response.destroy();
}

/** Removes the length of a stream: dropping the usage event or adding an interruption event changes it. */
function removeLength(headers: string[]): string[] {
  const at = headers.indexOf('content-length');
  return at < 0 ? headers : headers.toSpliced(at, 2);
}
