import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../../test/support/eventually.js';
import { pollBusilyFor, stayAwake } from './busy-poll.js';

/** For how long the process sleeps while there is nothing to do. */
async function sleptMs(duringMs: number): Promise<number> {
  const before = performance.nodeTiming.idleTime;
  await delay(duringMs);
  return performance.nodeTiming.idleTime - before;
}

/** Where others have the machine to themselves for a while, there is nothing left of one to sleep through. */
const sleeps = () => eventually(async () => expect(await sleptMs(100)).toBeGreaterThan(50));

afterEach(() => pollBusilyFor(0));

it('sleeps at once unless it is told otherwise', async () => {
  stayAwake();
  await sleeps();
});

it('does not sleep for as long as it is told, counted from what came last', async () => {
  pollBusilyFor(300);
  stayAwake();
  expect(await sleptMs(200)).toBe(0);
  stayAwake();
  expect(await sleptMs(200)).toBe(0);
});

it('sleeps again when nothing comes', async () => {
  pollBusilyFor(100);
  stayAwake();
  await delay(150);
  await sleeps();
});
