let durationMs = 0;
/** As `performance.now()` has it. */
let until = 0;
let isPolling = false;

/**
 * Sets for how long the process looks for what comes next without sleeping, once something came; 0: it sleeps at once.
 * As `busy-polling` of HAProxy does: a processor that sleeps, or goes to another virtual machine meanwhile, takes long
 * to come back, and has forgotten what was in its caches.
 */
export function pollBusilyFor(milliseconds: number): void {
  durationMs = milliseconds;
}

/** Something came. */
export function stayAwake(): void {
  if (durationMs === 0) return;
  until = performance.now() + durationMs;
  if (isPolling) return;
  isPolling = true;
  setImmediate(poll);
}

function poll(): void {
  isPolling = performance.now() < until;
  if (isPolling) setImmediate(poll);
}
