/** Measures 1, 2 and 4 replicas on one PostgreSQL; see README.md. */
import { LOAD_CORE, openLab } from './replicas/lab.js';
import type { Lab } from './replicas/lab.js';
import { KEYS, ORGANIZATIONS } from './replicas/mixes.js';
import { readOptions } from './replicas/options.js';
import type { Options } from './replicas/options.js';
import { NAMES, REPLICAS, report } from './replicas/report.js';
import { takeTurn } from './replicas/turn.js';
import { rejectOnInterruption } from './support/interruption.js';
import { pinSelf } from './support/machine.js';
import { noteStart, publish } from './support/results.js';
import type { Publication, Result } from './support/results.js';
import { takeTurns } from './support/turns.js';

const TIME_LIMIT_MS = 60 * 60_000;

async function main(): Promise<void> {
  const options = readOptions();
  const start = noteStart();
  pinSelf(LOAD_CORE);
  const interrupted = rejectOnInterruption(TIME_LIMIT_MS);
  const lab = await openLab();
  try {
    const result = await Promise.race([measureAll(lab, options), interrupted]);
    await publish(describePublication(lab, options), start, result);
  } finally {
    await lab.dispose();
  }
}

async function measureAll(lab: Lab, options: Options): Promise<Result> {
  const turns = await takeTurns(options.rounds, NAMES, (name, round) => {
    console.log(`round ${round + 1}: ${name}`);
    return takeTurn(lab, REPLICAS[name], options);
  });
  return report(turns, options);
}

function describePublication(lab: Lab, options: Options): Publication {
  const { rounds, seconds, perSecond, isComplete, output } = options;
  const keys = `${KEYS} keys of ${ORGANIZATIONS} organizations per mix`;
  return {
    name: 'replicas',
    title: 'Replicas on one PostgreSQL',
    parameters: `${rounds} rounds, ${seconds} s per load, ${perSecond} requests/s, ${keys}, medians`,
    versions: { PostgreSQL: lab.workspace.postgresVersion },
    isComplete,
    output,
  };
}

await main();
