import { stayAwake } from './busy-poll.js';

/** Who has something to write. */
export interface Writer {
  writeNow(): void;
}

let writers: Writer[] = [];
/** How many there were in this turn of the event loop, and in the last one that had any. */
let inThisTurn = 0;
let inLastTurn = 0;

/**
 * Lets all write at the end of this turn of the event loop, one right behind the other: what is at the other end
 * wakes up once for all of them, and to wake it is the dearest part of a write.
 */
export function writeAtEndOfTurn(writer: Writer): void {
  if (inThisTurn++ === 0) setImmediate(endTurn);
  writers.push(writer);
}

/**
 * All that was read of a connection is dealt with. The only one that has something to write, after a turn that also
 * had but one, waits for no others: in a process with little to do the rest of a turn takes as long as all else.
 */
export function endOfRead(): void {
  stayAwake();
  if (inThisTurn === 1 && inLastTurn <= 1) writeAll();
}

function endTurn(): void {
  inLastTurn = inThisTurn;
  inThisTurn = 0;
  writeAll();
}

function writeAll(): void {
  const all = writers;
  writers = [];
  for (const writer of all) writer.writeNow();
}
