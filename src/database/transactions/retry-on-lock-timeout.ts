import { setTimeout as pause } from 'node:timers/promises';
import { isLockTimeout } from '../connection/sql-states.js';

/** Lock timeouts. Shorter than PostgreSQL's `deadlock_timeout` of 1 s, so that waits end before they deadlock. */
export const LOCK_WAIT_MS = { atFirst: 50, later: 500 };
const PAUSE_MS = 200;

/**
 * Retries work that needs rows which other transactions may lock for long, for example while they wait for object
 * storage. Waiting with a connection and locks would block further transactions, until the pool is exhausted. Instead,
 * each attempt has a short lock timeout and is rolled back. The timeout is longer in the second half of the period, to
 * get a turn between many short transactions.
 * @param attempt the whole work; receives its `lock_timeout` in milliseconds
 * @param periodMs time after which a failed attempt is not retried
 * @throws QueryFailedError `lock_not_available` when no attempt got all locks
 */
export async function retryOnLockTimeout<T>(
  attempt: (lockTimeoutMs: number) => Promise<T>,
  periodMs: number,
): Promise<T> {
  const beganAt = performance.now();
  for (;;) {
    const elapsedMs = performance.now() - beganAt;
    try {
      return await attempt(elapsedMs < periodMs / 2 ? LOCK_WAIT_MS.atFirst : LOCK_WAIT_MS.later);
    } catch (error) {
      if (elapsedMs > periodMs || !isLockTimeout(error)) throw error;
    }
    await pause(PAUSE_MS * (0.5 + Math.random()));
  }
}
