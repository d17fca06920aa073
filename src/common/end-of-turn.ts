/** Who has something to write. */
export interface Writer {
  writeNow(): void;
}

/** Who has had nothing to write for this long was asleep, or might have been. */
const QUIET_MS = 0.1;

let writers: Writer[] = [];
/** How many there were in this turn of the event loop. */
let inThisTurn = 0;
/** As `performance.now()` has it. */
let lastTurnEndedAt = 0;

/**
 * Lets all write at the end of this turn of the event loop, one right behind the other: what is at the other end
 * wakes up once for all of them, and to wake it is the dearest part of a write.
 *
 * The first that has something to write after a while of silence waits for no others, and writes before this returns:
 * in a process with little to do the rest of a turn takes as long as all else.
 */
export function writeSoon(writer: Writer): void {
  if (inThisTurn++ === 0) {
    setImmediate(endTurn);
    if (performance.now() - lastTurnEndedAt > QUIET_MS) return writer.writeNow();
  }
  writers.push(writer);
}

function endTurn(): void {
  inThisTurn = 0;
  const all = writers;
  writers = [];
  for (const writer of all) writer.writeNow();
  lastTurnEndedAt = performance.now();
}
