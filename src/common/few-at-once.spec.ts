import { setImmediate as turn } from 'node:timers/promises';
import { fewAtOnce } from './few-at-once.js';

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

it('does all, in order, and no more at once than it is to', async () => {
  expect(await fewAtOnce([1, 2, 3, 4, 5, 6, 7], 3, task)).toEqual([]);
  expect(begun).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(most).toBe(3);
});

it('begins none when it is over, and tells which', async () => {
  const isOver = () => begun.length >= 4;
  expect(await fewAtOnce([1, 2, 3, 4, 5, 6, 7], 3, task, isOver)).toEqual([5, 6, 7]);
  expect(begun).toEqual([1, 2, 3, 4]);
  expect(running).toBe(0);
});

it('fails with what fails', async () => {
  const failing = fewAtOnce([1, 2], 1, () => Promise.reject(new Error('failed')));
  await expect(failing).rejects.toThrow('failed');
});

it('has nothing to do without items', async () => {
  expect(await fewAtOnce([], 3, task)).toEqual([]);
});
