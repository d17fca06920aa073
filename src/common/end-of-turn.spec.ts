import { setImmediate as nextTurn } from 'node:timers/promises';
import { endOfRead, writeAtEndOfTurn } from './end-of-turn.js';

let written: string[] = [];

function writeLater(...names: string[]): void {
  for (const name of names) writeAtEndOfTurn({ writeNow: () => written.push(name) });
}

beforeEach(async () => {
  writeLater('alone');
  await nextTurn();
  written = [];
});

it('writes at the end of the turn, in order', async () => {
  writeLater('a', 'b');
  expect(written).toEqual([]);
  await nextTurn();
  expect(written).toEqual(['a', 'b']);
});

it('writes at once when a read is dealt with, where the last turn had one to write to', async () => {
  writeLater('a');
  endOfRead();
  expect(written).toEqual(['a']);
  await nextTurn();
  expect(written).toEqual(['a']);
});

it('waits for the others where there are several, in this turn or in the last', async () => {
  writeLater('a');
  endOfRead();
  writeLater('b');
  endOfRead();
  expect(written).toEqual(['a']);
  await nextTurn();
  written = [];
  writeLater('c');
  endOfRead();
  expect(written).toEqual([]);
  writeLater('d');
  endOfRead();
  await nextTurn();
  expect(written).toEqual(['c', 'd']);
});

it.each(['at once', 'at the end of the turn'])('writes what a write leads to, %s', async (when) => {
  writeAtEndOfTurn({ writeNow: () => writeLater('behind it') });
  if (when === 'at once') endOfRead();
  await nextTurn();
  await nextTurn();
  expect(written).toEqual(['behind it']);
});
