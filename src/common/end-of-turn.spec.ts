import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { endOfRead, writeAtEndOfTurn } from './end-of-turn.js';

let written: string[] = [];

function writeLater(...names: string[]): void {
  for (const name of names) writeAtEndOfTurn({ writeNow: () => written.push(name) });
}

beforeEach(async () => {
  written = [];
  await delay(5);
});

it('writes at the end of the turn, in order', async () => {
  writeLater('a', 'b');
  expect(written).toEqual([]);
  await nextTurn();
  expect(written).toEqual(['a', 'b']);
});

it('writes at once when the first read after a while is dealt with', async () => {
  writeLater('a');
  endOfRead();
  expect(written).toEqual(['a']);
  await nextTurn();
  expect(written).toEqual(['a']);
});

it('waits for the others when there are several', async () => {
  writeLater('a');
  endOfRead();
  writeLater('b');
  endOfRead();
  expect(written).toEqual(['a']);
  writeLater('c');
  endOfRead();
  expect(written).toEqual(['a']);
  await nextTurn();
  expect(written).toEqual(['a', 'b', 'c']);
});

it.each(['at once', 'at the end of the turn'])('writes what a write leads to, %s', async (when) => {
  writeAtEndOfTurn({ writeNow: () => writeLater('behind it') });
  if (when === 'at once') endOfRead();
  await nextTurn();
  await nextTurn();
  expect(written).toEqual(['behind it']);
});
