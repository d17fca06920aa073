import { isEventStream } from './answer-head.js';
import type { AnswerHead } from './answer-head.js';
import { firstEvent } from './first-event.js';
import { isServerError } from './stream-events.js';
import type { Target } from './target.js';
import type { AnswerListener, FailureKind, WireRequest } from './upstream-connection.js';
import type { Transfer, UpstreamConnections } from './upstream-connections.js';

/** How much of an answer that may yet be needed is kept while other upstreams are tried. */
const HELD_LIMIT_BYTES = 65_536;

/** How often a stream is looked at for its first event: one that comes byte by byte is not waited for. */
const LOOKS_LIMIT = 256;

/**
 * Nor is one that says nothing but that it is alive (comments) for longer than this: those who wait have to hear it, and
 * so have the balancers in front of them.
 */
const FIRST_EVENT_LIMIT_MS = 5_000;

/** Why an answer was not good enough. */
export type AttemptError = FailureKind | 'status' | 'redirect' | 'stream_error' | 'cancelled';

/** How long an upstream may take, in milliseconds. */
export interface Deadlines {
  readonly firstByteMs: number;
  /** Of silence within the answer. */
  readonly idleMs: number;
}

/** Who gets an answer that is passed on. */
export interface AnswerTaker {
  /** Whether anything of it went out. */
  readonly hasBegun: boolean;
  head(head: AnswerHead): void;
  /** @param chunk valid until this returns */
  data(chunk: Buffer): void;
  /** What has come was told, and more is to come. */
  settled(): void;
  end(): void;
  /** The answer broke off. */
  cut(): void;
}

/**
 * What is decided of an attempt. Rejection may follow either, where the answer breaks off after all before anything of
 * it went out.
 */
export interface AttemptEvents {
  /** The answer is good: nothing has been told of it yet. */
  accepted(attempt: Attempt): void;
  /** There is no answer, or one that another upstream may better. */
  rejected(attempt: Attempt): void;
}

/** One upstream's turn at a request, from sending it to the end of its answer. */
export class Attempt implements AnswerListener {
  /** Of the answer, when there was one. */
  status: number | null = null;
  error: AttemptError | null = null;
  /** Until the verdict, in milliseconds. */
  ms = 0;
  /** Of an answer that can be passed on. */
  answer?: AnswerHead;
  private taker?: AnswerTaker;
  private held: Buffer[] = [];
  private heldBytes = 0;
  /**
   * - `waiting` for the head of the answer: ends when that comes, or is not to come any more
   * - `undecided`: the head is there; ends with the verdict, at once unless it is a stream whose first event may be an error
   * - `decided`: accepted or rejected; ends with the answer, whoever it is passed to
   * - `ended`: all of the answer has come, though some of it may still be held
   * - `cut`: the answer broke off, took too long or was cancelled; nothing more comes
   */
  private state: 'waiting' | 'undecided' | 'decided' | 'ended' | 'cut' = 'waiting';
  private transfer: Transfer;
  private timer: NodeJS.Timeout;
  private isIdleTimer = false;
  /** When something of the answer came last, as `performance.now()` has it. */
  private heardAt = 0;
  /** When the head of a stream came whose first event is waited for. */
  private headAt = 0;
  private isPaused = false;
  private isFresh = false;
  private looks = 0;
  private readonly beganAt = performance.now();

  constructor(
    readonly target: Target,
    /** Until the verdict. */
    private request: WireRequest | undefined,
    private readonly deadlines: Deadlines,
    private readonly connections: UpstreamConnections,
    private readonly events: AttemptEvents,
  ) {}

  start(): void {
    this.transfer = this.connections.send(this.target.origin, this.request!, this, this.isFresh);
    this.waitFor(this.deadlines.firstByteMs);
  }

  /** Passes the answer on: what has come of it, and what comes. */
  passTo(taker: AnswerTaker): void {
    this.taker = taker;
    taker.head(this.answer!);
    this.resume(); // not behind the data, of which the taker may have enough
    for (const chunk of this.held) taker.data(chunk);
    this.held = [];
    if (this.state === 'ended') taker.end();
    else if (this.state === 'cut') taker.cut();
  }

  pause(): void {
    if (this.isOver()) return;
    this.isPaused = true;
    this.transfer.pause();
  }

  resume(): void {
    if (this.isOver() || !this.isPaused) return;
    this.isPaused = false;
    this.heardAt = performance.now();
    this.transfer.resume();
  }

  /**
   * Nothing more is told, nor asked of the upstream.
   * @param error why, where the attempt was not decided yet
   */
  cancel(error: AttemptError = 'cancelled'): void {
    clearTimeout(this.timer);
    if (this.isOver()) return;
    if (this.state === 'waiting' || this.state === 'undecided') this.decide(error);
    this.state = 'cut';
    this.answer = undefined; // the rest of it will not come
    this.transfer.cancel();
  }

  head(head: AnswerHead): void {
    this.status = head.status;
    this.answer = head;
    this.state = 'undecided';
    if (head.status >= 500) this.reject('status');
    else if (head.status >= 300 && head.status < 400) this.reject('redirect');
    else if (mayBeginWithAnError(head)) this.headAt = performance.now();
    else this.accept();
  }

  data(chunk: Buffer): void {
    if (this.taker) return this.taker.data(chunk);
    this.held.push(Buffer.from(chunk));
    this.heldBytes += chunk.length;
    if (this.state !== 'undecided' && this.heldBytes > HELD_LIMIT_BYTES) this.pause();
  }

  settled(): void {
    if (this.state === 'undecided') this.judge();
    this.heardAt = performance.now();
    if (!this.isIdleTimer && !this.awaitsFirstByte() && !this.isOver()) {
      this.isIdleTimer = true;
      clearTimeout(this.timer);
      this.waitFor(this.deadlines.idleMs);
    }
    this.taker?.settled();
  }

  end(): void {
    if (this.state === 'undecided') this.judge();
    if (this.state === 'undecided') this.accept();
    this.state = 'ended';
    this.taker?.end();
    clearTimeout(this.timer); // the client is not to wait for it
  }

  failed(kind: FailureKind, stale: boolean): void {
    clearTimeout(this.timer);
    if (stale && !this.isFresh) {
      this.isFresh = true;
      this.start();
    } else this.breakOff(kind);
  }

  /** What came while the process was held up is there to be read, and is no silence. */
  private timedOut(): void {
    const { timer } = this;
    setImmediate(() => {
      if (this.timer === timer && !this.isOver()) this.judgeSilence();
    });
  }

  private judgeSilence(): void {
    if (this.isPaused) return this.waitFor(this.deadlines.idleMs); // the silence is ours
    // Not put off each time that something comes: that would cost more than all else that is done for a chunk.
    const leftMs = this.isIdleTimer ? this.heardAt + this.deadlines.idleMs - performance.now() : 0;
    if (leftMs >= 1) return this.waitFor(leftMs);
    this.transfer.cancel();
    this.breakOff('timeout');
  }

  private waitFor(milliseconds: number): void {
    this.timer = setTimeout(() => this.timedOut(), milliseconds);
  }

  /** An answer of which nothing was passed on is none; the rest of one that was is missing. */
  private breakOff(kind: FailureKind): void {
    if (this.state === 'undecided') this.judge();
    const { state } = this;
    this.state = 'cut';
    if (this.taker?.hasBegun) this.taker.cut();
    else if (this.taker || state !== 'decided') {
      this.taker = undefined;
      this.answer = undefined;
      this.reject(kind);
    }
  }

  private judge(): void {
    if (++this.looks > LOOKS_LIMIT) return this.accept();
    const event = firstEvent(this.held.length === 1 ? this.held[0]! : Buffer.concat(this.held));
    if (!event) {
      if (performance.now() - this.headAt > FIRST_EVENT_LIMIT_MS) this.accept();
      return;
    }
    if (isServerError(event.name, event.data)) this.reject('stream_error');
    else this.accept();
  }

  private accept(): void {
    this.decide(null);
    this.events.accepted(this);
  }

  private reject(error: AttemptError): void {
    this.decide(error);
    this.events.rejected(this);
  }

  private decide(error: AttemptError | null): void {
    if (this.state === 'undecided') this.state = 'decided';
    this.error = error;
    this.request = undefined; // its body may be large, and the answer long, whoever gives it
    this.ms = performance.now() - this.beganAt;
  }

  /** To the client the head of a stream is none as long as it may not go out: that gives the upstream no more time. */
  private awaitsFirstByte(): boolean {
    if (this.state === 'waiting') return true;
    const { firstByteMs, idleMs } = this.deadlines;
    return this.state === 'undecided' && this.heldBytes === 0 && firstByteMs <= idleMs;
  }

  private isOver(): boolean {
    return this.state === 'ended' || this.state === 'cut';
  }
}

/** A successful event stream may yet say that the provider is overloaded. */
function mayBeginWithAnError({ status, contentType, encoded, framing }: AnswerHead): boolean {
  return isEventStream(contentType) && status < 300 && !encoded && framing !== 0;
}
