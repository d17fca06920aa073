import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Pause of this process from which an attempt counts as disturbed. */
const STANDSTILL_MS = 500;
const NS_PER_MS = 1e6;
const MAX_ATTEMPTS = 5;

/**
 * Tries again if an attempt fails in which this process stood still. For services in this process that have a window
 * of time which a test cannot lengthen.
 * @param attempt works with new data each time
 */
export async function undisturbed<T>(attempt: () => Promise<T>): Promise<T> {
  for (let count = 1; ; count++) {
    const delay = monitorEventLoopDelay();
    delay.enable();
    try {
      return await attempt();
    } catch (error) {
      if (count === MAX_ATTEMPTS || delay.max < STANDSTILL_MS * NS_PER_MS) throw error;
    } finally {
      delay.disable();
    }
  }
}
