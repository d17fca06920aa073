import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { writeSoon } from './end-of-turn.js';

let written: string[] = [];

function write(...names: string[]): void {
  for (const name of names) writeSoon({ writeNow: () => written.push(name) });
}

beforeEach(async () => {
  await nextTurn();
  written = [];
  await delay(5);
});

it('writes the first after a while at once, and all others at the end of the turn, in order', async () => {
  write('a', 'b', 'c');
  expect(written).toEqual(['a']);
  await nextTurn();
  expect(written).toEqual(['a', 'b', 'c']);
});

it('writes all at the end of a turn right behind another one', async () => {
  let before: string[] = [];
  write('a');
  setImmediate(() => {
    write('b', 'c');
    before = [...written];
  });
  await delay(5);
  expect(before).toEqual(['a']);
  expect(written).toEqual(['a', 'b', 'c']);
});

it.each([
  ['at once', []],
  ['at the end of the turn', ['a', 'b']],
])('writes what a write leads to, %s', async (_, others) => {
  write(...others);
  writeSoon({ writeNow: () => write('behind it') });
  await delay(5);
  expect(written).toEqual([...others, 'behind it']);
});
