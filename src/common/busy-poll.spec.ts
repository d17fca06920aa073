import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { pollBusilyFor, stayAwake } from './busy-poll.js';

/** For how long the process sleeps while there is nothing to do. */
async function sleptMs(duringMs: number): Promise<number> {
  const before = performance.nodeTiming.idleTime;
  await delay(duringMs);
  return performance.nodeTiming.idleTime - before;
}

afterEach(() => pollBusilyFor(0));

it('sleeps at once unless it is told otherwise', async () => {
  stayAwake();
  expect(await sleptMs(100)).toBeGreaterThan(50);
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
  expect(await sleptMs(100)).toBeGreaterThan(50);
});
