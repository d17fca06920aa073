import { setTimeout as delay } from 'node:timers/promises';
import type { PinnedChild } from '../support/child.js';

/** Usage records are written within this time after their requests. */
const SETTLING_MS = 1_000;

/** Runs a task and measures the CPU time of a process in seconds, including the work that it does one second later. */
export async function measureCpu<Result>(
  child: PinnedChild,
  task: () => Promise<Result>,
): Promise<[Result, number]> {
  const before = child.cpuSeconds();
  const result = await task();
  await delay(SETTLING_MS);
  return [result, child.cpuSeconds() - before];
}
