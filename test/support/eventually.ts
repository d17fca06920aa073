import { setTimeout as pause } from 'node:timers/promises';

const POLL_INTERVAL_MS = 20;
/** Longest time that one attempt counts for: a pause of the machine is no time in which something could happen. */
const COUNTED_MS = 1_000;

/**
 * Tries again until the check passes. For what happens on its own.
 * @param timeoutMs time for all attempts together; each counts for 1 s at most
 * @throws the error of the last attempt
 */
export async function eventually<T>(check: () => Promise<T> | T, timeoutMs = 30_000): Promise<T> {
  let leftMs = timeoutMs;
  for (;;) {
    const beganAt = performance.now();
    try {
      return await check();
    } catch (error) {
      if (leftMs <= 0) throw error;
    }
    await pause(POLL_INTERVAL_MS);
    leftMs -= Math.min(performance.now() - beganAt, COUNTED_MS);
  }
}
