/** Signals that ask a process to stop, with the exit codes of an immediate end (128 plus the number of the signal). */
export const STOP_SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const;
/** Interval in which a signal counts as repeated: one Ctrl-C may arrive from the terminal and again from npm. */
const SAME_SIGNAL_MS = 500;

/**
 * Calls `stop` at the first signal. A later signal ends the process at once; listeners of `exit` still run.
 */
export function onStopSignals(stop: () => void): void {
  let askedAt: number | undefined;
  for (const [signal, code] of Object.entries(STOP_SIGNALS)) {
    process.on(signal, () => {
      if (askedAt === undefined) {
        askedAt = performance.now();
        stop();
      } else if (performance.now() - askedAt > SAME_SIGNAL_MS) process.exit(code);
    });
  }
}
