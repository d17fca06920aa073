import { isServerError } from '../metering/stream-events.js';
import type { Target } from '../pool/targets.js';
import { BufferList } from '../wire/buffer-list.js';
import type { ResponseHeaders } from '../wire/response-headers.js';
import type { FailureKind, ResponseListener, WireRequest } from '../wire/upstream-connection.js';
import type { UpstreamConnections, UpstreamRequest } from '../wire/upstream-connections.js';
import type { AttemptError, AttemptResult, AttemptState, ResponseReceiver } from './attempt-result.js';
import { FirstEventReader, mayStartWithError } from './first-event-reader.js';
import type { StreamEvent } from './first-event-reader.js';
import { ResponseTimer } from './response-timer.js';
import type { Deadlines } from './response-timer.js';

/** Maximum size of a rejected response that is kept while other upstreams are tried. */
const BUFFER_LIMIT_BYTES = 65_536;

/** Maximum wait for the first event of a stream. Keep-alive comments must reach the client and its load balancers. */
export const FIRST_EVENT_LIMIT_MS = 5_000;

/** Sends a request to one upstream, decides on the response, and delivers the response. */
export class Attempt implements ResponseListener, AttemptResult {
  /** Status of the response; null while there is no response. */
  status: number | null = null;
  error: AttemptError | null = null;
  /** Time until the attempt was accepted or rejected. */
  durationMs = 0;
  /** Headers of a response that can be relayed. */
  responseHeaders?: ResponseHeaders;
  private receiver?: ResponseReceiver;
  private readonly buffered = new BufferList();
  /** Set while the decision depends on the first event of the stream. */
  private firstEventReader?: FirstEventReader = undefined;
  private firstEvent?: StreamEvent = undefined;
  private state: AttemptState = 'waiting';
  private upstreamRequest: UpstreamRequest;
  private readonly timer: ResponseTimer;
  /** Arrival of the headers of an undecided stream, by `performance.now()`. */
  private headersAt = 0;
  /** Whether the request was repeated on a new connection. */
  private isRetry = false;
  private readonly startedAt = performance.now();

  constructor(
    readonly target: Target,
    /** Released after the decision. */
    private request: WireRequest | undefined,
    private readonly deadlines: Deadlines,
    private readonly connections: UpstreamConnections,
    private readonly listener: AttemptListener,
  ) {
    this.timer = new ResponseTimer(deadlines, () => this.onTimeout());
  }

  start(): void {
    this.upstreamRequest = this.connections.send(this.target, this.request!, this, this.isRetry);
    this.timer.start();
  }

  /** Relays the response: the buffered part now, the rest as it arrives. */
  pipeTo(receiver: ResponseReceiver): void {
    this.receiver = receiver;
    receiver.onResponseHeaders(this.responseHeaders!);
    this.resume(); // before the data: the receiver may pause again
    for (const chunk of this.buffered.toBuffers()) receiver.onData(chunk);
    this.buffered.clear();
    if (this.state === 'ended') receiver.onEnd();
    else if (this.state === 'aborted') receiver.onInterrupted();
  }

  pause(): void {
    if (this.isOver()) return;
    this.timer.pause();
    this.upstreamRequest.pause();
  }

  resume(): void {
    if (this.isOver() || !this.timer.isPaused) return;
    this.timer.resume();
    this.upstreamRequest.resume();
  }

  /**
   * Cancels the request at the upstream. The receiver is not notified.
   * @param error recorded reason, unless the attempt is decided already
   */
  cancel(error: AttemptError = 'cancelled'): void {
    this.timer.stop();
    if (this.isOver()) return;
    if (this.state === 'waiting' || this.state === 'undecided') this.decide(error);
    this.state = 'aborted';
    this.responseHeaders = undefined; // the response is incomplete
    this.upstreamRequest.cancel();
  }

  onResponseHeaders(headers: ResponseHeaders): void {
    this.status = headers.status;
    this.responseHeaders = headers;
    this.state = 'undecided';
    if (headers.status >= 500 || this.target.failoverOn.includes(headers.status)) this.reject('status');
    else if (headers.status >= 300 && headers.status < 400) this.reject('redirect');
    else if (mayStartWithError(headers)) {
      this.headersAt = performance.now();
      this.firstEventReader = new FirstEventReader();
    } else this.accept();
  }

  onData(chunk: Buffer): void {
    if (this.receiver) return this.receiver.onData(chunk);
    this.buffered.append(Buffer.from(chunk));
    if (this.state === 'undecided') this.firstEvent ??= this.firstEventReader?.read(chunk);
    else if (this.buffered.length > BUFFER_LIMIT_BYTES) this.pause();
  }

  onReadEnd(): void {
    if (this.state === 'undecided') this.decideByFirstEvent();
    this.timer.onReadEnd(!this.awaitsFirstByte());
    this.receiver?.onReadEnd();
  }

  onEnd(): void {
    if (this.state === 'undecided') this.decideByFirstEvent();
    if (this.state === 'undecided') this.accept();
    this.state = 'ended';
    this.receiver?.onEnd();
    this.timer.stop(); // last, so that the client does not wait for it
  }

  onError(kind: FailureKind, isStale: boolean): void {
    this.timer.stop();
    if (isStale && !this.isRetry) {
      this.isRetry = true;
      this.start();
    } else this.abort(kind);
  }

  private onTimeout(): void {
    this.upstreamRequest.cancel();
    this.abort('timeout');
  }

  /** Rejects the attempt if the client has no byte of the response yet, and interrupts the response otherwise. */
  private abort(kind: FailureKind): void {
    if (this.state === 'undecided') this.decideByFirstEvent();
    const { state } = this;
    this.state = 'aborted';
    if (this.receiver?.hasStarted) this.receiver.onInterrupted();
    else if (this.receiver || state !== 'decided') {
      this.receiver = undefined;
      this.responseHeaders = undefined;
      this.reject(kind);
    }
  }

  private decideByFirstEvent(): void {
    const { firstEvent } = this;
    if (!firstEvent) {
      if (performance.now() - this.headersAt > FIRST_EVENT_LIMIT_MS) this.accept();
      return;
    }
    if (isServerError(firstEvent.name, firstEvent.data)) this.reject('stream_error');
    else this.accept();
  }

  private accept(): void {
    this.decide(null);
    this.listener.onAccepted(this);
  }

  private reject(error: AttemptError): void {
    this.decide(error);
    this.listener.onRejected(this);
  }

  private decide(error: AttemptError | null): void {
    if (this.state === 'undecided') this.state = 'decided';
    this.error = error;
    this.request = undefined; // frees the request body, which may be large, while a long response is relayed
    this.firstEventReader = undefined;
    this.firstEvent = undefined;
    this.durationMs = performance.now() - this.startedAt;
  }

  /** Headers of an undecided stream do not reach the client, and so do not extend the limit for the first byte. */
  private awaitsFirstByte(): boolean {
    if (this.state === 'waiting') return true;
    const { firstByteMs, idleMs } = this.deadlines;
    return this.state === 'undecided' && this.buffered.length === 0 && firstByteMs <= idleMs;
  }

  private isOver(): boolean {
    return this.state === 'ended' || this.state === 'aborted';
  }
}

/** Receives the decision on an attempt. A rejection may follow if the response fails before a byte was relayed. */
export interface AttemptListener {
  /** The response is to be relayed; no part of it was delivered yet. */
  onAccepted(attempt: Attempt): void;
  /** There is no response, or another upstream may have a better one. */
  onRejected(attempt: Attempt): void;
}
