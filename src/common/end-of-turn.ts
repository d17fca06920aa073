/** Who has something to write. */
export interface Writer {
  writeNow(): void;
}

let writers: Writer[] = [];

/**
 * Lets all write at the end of this turn of the event loop, one right behind the other: what is at the other end
 * wakes up once for all of them, and to wake it is the dearest part of a write.
 */
export function writeAtEndOfTurn(writer: Writer): void {
  if (writers.length === 0) setImmediate(writeAll);
  writers.push(writer);
}

function writeAll(): void {
  const all = writers;
  writers = [];
  for (const writer of all) writer.writeNow();
}
