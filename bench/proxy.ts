/** Measures the proxy beside nginx and Portkey; see README.md. */
import { goalTable } from './proxy/goals.js';
import type { Figures, Goal } from './proxy/goals.js';
import { LOAD_CORE, openLab } from './proxy/lab.js';
import type { Lab } from './proxy/lab.js';
import { measureFirstByte, measureLatency } from './proxy/latency.js';
import { measureMemory } from './proxy/memory.js';
import { readOptions } from './proxy/options.js';
import type { FigureName, Options } from './proxy/options.js';
import { measureRecords } from './proxy/records.js';
import { measureLarge, measureThroughput } from './proxy/saturated.js';
import { measureStreams } from './proxy/streams.js';
import { interruption } from './support/interruption.js';
import { describeMachine, pinSelf } from './support/machine.js';

const TIME_LIMIT_MS = 45 * 60_000;

const MEASURE: Record<FigureName, (lab: Lab, options: Options) => Promise<Figures>> = {
  throughput: measureThroughput,
  latency: measureLatency,
  streams: measureStreams,
  'first-byte': measureFirstByte,
  large: measureLarge,
  records: measureRecords,
  memory: measureMemory,
};

async function main(): Promise<void> {
  const options = readOptions();
  pinSelf(LOAD_CORE);
  const interrupted = interruption(TIME_LIMIT_MS);
  interrupted.catch(() => undefined); // for when it comes before it is waited for
  const lab = await openLab();
  try {
    const goals = await Promise.race([measureAll(lab, options), interrupted]);
    console.log(`\n${describeMachine()}, PostgreSQL ${lab.workspace.postgresVersion}`);
    console.log(`${options.rounds} rounds of ${options.seconds} s each, medians\n\n${goalTable(goals)}`);
  } finally {
    await lab.dispose();
  }
}

async function measureAll(lab: Lab, options: Options): Promise<Goal[]> {
  const goals: Goal[] = [];
  for (const name of options.only) {
    const figures = await MEASURE[name](lab, options);
    console.log(`\n${name}: ${figures.details}`);
    goals.push(...figures.goals);
  }
  return goals;
}

await main();
