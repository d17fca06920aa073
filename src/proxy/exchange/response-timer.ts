/** Time that an upstream has for its response. */
export interface Deadlines {
  /** Limit from the request to the first byte of the response. */
  readonly firstByteMs: number;
  /** Limit between two reads of the response. */
  readonly idleMs: number;
}

/** Reports an upstream that sends nothing for too long: first until the response begins, then between its bytes. */
export class ResponseTimer {
  /** Whether the client is too slow: the upstream's silence does not count then. */
  isPaused = false;
  /** Undefined while stopped. */
  private timer?: NodeJS.Timeout = undefined;
  private hasFirstByte = false;
  /** Time of the last read by `performance.now()`. */
  private lastReadAt = 0;

  constructor(
    private readonly deadlines: Deadlines,
    private readonly onTimeout: () => void,
  ) {}

  start(): void {
    this.wait(this.deadlines.firstByteMs);
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  /** @param hasFirstByte whether the response has begun, so that the idle limit replaces the first limit */
  onReadEnd(hasFirstByte: boolean): void {
    this.lastReadAt = performance.now();
    if (this.hasFirstByte || !hasFirstByte || !this.timer) return;
    this.hasFirstByte = true;
    clearTimeout(this.timer);
    this.wait(this.deadlines.idleMs);
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
    this.lastReadAt = performance.now();
  }

  private wait(milliseconds: number): void {
    this.timer = setTimeout(() => this.onTimerEnd(), milliseconds);
  }

  /** Gives the event loop a turn first: bytes that arrived while the process was blocked are not silence. */
  private onTimerEnd(): void {
    const { timer } = this;
    setImmediate(() => {
      if (this.timer === timer && timer) this.checkSilence();
    });
  }

  /** Compares times here because restarting the timer at every read would cost more than relaying a chunk. */
  private checkSilence(): void {
    const { idleMs } = this.deadlines;
    if (this.isPaused) return this.wait(idleMs);
    const leftMs = this.hasFirstByte ? this.lastReadAt + idleMs - performance.now() : 0;
    if (leftMs >= 1) return this.wait(leftMs);
    this.stop();
    this.onTimeout();
  }
}
