import { setTimeout as pause } from 'node:timers/promises';
import { lockNotAvailable } from './sql-states.js';

/** Shorter than PostgreSQL takes to look for a deadlock: who waits so has let go before it is one. */
const LOCK_WAIT_MS = { atFirst: 50, later: 500 };
const YIELD_MS = 200;

/**
 * Does work that may meet rows which others hold for long: while they wait for object storage, or delete a million
 * documents. To wait with locks and a connection of one's own would make others wait with theirs, until there are none
 * left: so all is let go again and again, and the work begins anew. Longer waits come in the second half of
 * the time, and find a moment between the others.
 * @param attempt the whole work, with the `lock_timeout` that it is to have in milliseconds
 * @param forMs for how long it is begun anew
 * @throws QueryFailedError `lock_not_available` when there was no moment for it
 */
export async function yielding<T>(attempt: (lockTimeoutMs: number) => Promise<T>, forMs: number): Promise<T> {
  const beganAt = performance.now();
  for (;;) {
    const elapsedMs = performance.now() - beganAt;
    try {
      return await attempt(elapsedMs < forMs / 2 ? LOCK_WAIT_MS.atFirst : LOCK_WAIT_MS.later);
    } catch (error) {
      if (elapsedMs > forMs || !lockNotAvailable(error)) throw error;
    }
    await pause(YIELD_MS * (0.5 + Math.random()));
  }
}
