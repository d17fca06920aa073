/** Time without a write after which the next write does not wait for the end of the turn. */
const QUIET_MS = 0.1;

let writers: Writer[] = [];
let countInTurn = 0;
/** `performance.now()` at the end of the last turn with a write. */
let lastTurnEndedAt = 0;

/**
 * Schedules a write for the end of this turn of the event loop. All writers then write in one go, which wakes a receiver
 * once for all of them. Waking the receiver is the most expensive part of a write.
 *
 * The first writer after a quiet time writes before this function returns. In a process with little to do, the delay
 * until the end of the turn would cost more than the joint write saves.
 */
export function writeSoon(writer: Writer): void {
  if (countInTurn++ === 0) {
    setImmediate(endTurn);
    if (performance.now() - lastTurnEndedAt > QUIET_MS) return writer.writeNow();
  }
  writers.push(writer);
}

export interface Writer {
  writeNow(): void;
}

function endTurn(): void {
  countInTurn = 0;
  const all = writers;
  writers = [];
  for (const writer of all) writer.writeNow();
  lastTurnEndedAt = performance.now();
}
