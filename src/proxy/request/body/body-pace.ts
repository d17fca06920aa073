/** Interval of the measurements. */
export const TICK_MS = 1_000;

/** Minimum rate, as an average over the window. A slower body is rejected. */
export const MIN_BYTES_PER_TICK = 16_384;
export const WINDOW_TICKS = 10;

/** Measures the rate at which a body arrives. Ticks during which the service paused the body do not count. */
export class BodyPace {
  /** Whether the body arrived fast enough during the last tick. */
  isActive = true;
  private tickBytes = 0;
  private wasPaused = false;
  /** Bytes per tick of the last ticks, oldest first. */
  private readonly window: number[] = [];
  private windowBytes = 0;

  onData(bytes: number): void {
    this.tickBytes += bytes;
  }

  /** Excludes the current tick from the measurement. */
  onPaused(): void {
    this.wasPaused = true;
  }

  /**
   * @param counts false to exclude the tick from the window
   * @returns true if the body was too slow over a whole window
   */
  endTick(counts: boolean): boolean {
    const { tickBytes, wasPaused, window } = this;
    this.tickBytes = 0;
    this.wasPaused = false;
    this.isActive = wasPaused || tickBytes >= MIN_BYTES_PER_TICK;
    if (wasPaused || !counts) return false;
    window.push(tickBytes);
    this.windowBytes += tickBytes;
    if (window.length > WINDOW_TICKS) this.windowBytes -= window.shift()!;
    return window.length === WINDOW_TICKS && this.windowBytes < WINDOW_TICKS * MIN_BYTES_PER_TICK;
  }
}
