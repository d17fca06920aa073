import { jest } from '@jest/globals';
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

it('runs the first writer after a quiet time at once, and the others at the end of the turn in their order', async () => {
  write('a', 'b', 'c');
  expect(written).toEqual(['a']);
  await nextTurn();
  expect(written).toEqual(['a', 'b', 'c']);
});

it('runs all writers of the following turn at its end', async () => {
  const clock = jest.spyOn(performance, 'now').mockReturnValue(performance.now()); // a busy machine has longer turns
  let before: string[] = [];
  write('a');
  setImmediate(() => {
    write('b', 'c');
    before = [...written];
  });
  await delay(5);
  clock.mockRestore();
  expect(before).toEqual(['a']);
  expect(written).toEqual(['a', 'b', 'c']);
});

it.each([
  ['of the first writer', []],
  ['of a writer at the end of the turn', ['a', 'b']],
])('runs a writer that is added by the write %s', async (_, others) => {
  write(...others);
  writeSoon({ writeNow: () => write('nested') });
  await delay(5);
  expect(written).toEqual([...others, 'nested']);
});
