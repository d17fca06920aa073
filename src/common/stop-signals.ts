/** The signals that ask a process to stop, and what it ends with where it does not stop in order (128 and the number). */
export const STOP_SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const;
/** One Ctrl-C may arrive twice: from the terminal, and from npm. */
const SAME_SIGNAL_MS = 500;

/**
 * Calls `stop` when the process is asked to stop, once. Who asks again has no patience: then it ends at once, but not
 * without what it does on `exit`.
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
