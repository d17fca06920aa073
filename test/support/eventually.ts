import { setTimeout as pause } from 'node:timers/promises';

const POLL_INTERVAL_MS = 20;

/** Tries again until the check passes; fails with its last error after the deadline. For what happens on its own. */
export async function eventually<T>(check: () => Promise<T> | T, timeoutMs = 10_000): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await pause(POLL_INTERVAL_MS);
    }
  }
}
