import { setImmediate as turn } from 'node:timers/promises';
import { mapConcurrently } from './map-concurrently.js';

let begun: number[];
let most: number;
let running: number;

beforeEach(() => {
  [begun, most, running] = [[], 0, 0];
});

async function task(item: number): Promise<void> {
  begun.push(item);
  most = Math.max(most, ++running);
  await turn();
  running--;
}

it('runs all tasks in order, and never more at once than the limit', async () => {
  expect(await mapConcurrently([1, 2, 3, 4, 5, 6, 7], 3, task)).toEqual([]);
  expect(begun).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(most).toBe(3);
});

it('starts no task once it is stopped, and returns the remaining items', async () => {
  const isOver = () => begun.length >= 4;
  expect(await mapConcurrently([1, 2, 3, 4, 5, 6, 7], 3, task, isOver)).toEqual([5, 6, 7]);
  expect(begun).toEqual([1, 2, 3, 4]);
  expect(running).toBe(0);
});

it('rejects with the error of a failed task', async () => {
  const failing = mapConcurrently([1, 2], 1, () => Promise.reject(new Error('failed')));
  await expect(failing).rejects.toThrow('failed');
});

it('resolves at once without items', async () => {
  expect(await mapConcurrently([], 3, task)).toEqual([]);
});
