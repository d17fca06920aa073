/** Measures the proxy beside nginx and Portkey; see README.md. */
import type { Figure, Measured } from './proxy/figures.js';
import { LOAD_CORE, openLab } from './proxy/lab.js';
import type { Lab } from './proxy/lab.js';
import { firstByte, latency } from './proxy/latency.js';
import { readOptions } from './proxy/options.js';
import type { FigureName, Options } from './proxy/options.js';
import { limits } from './proxy/limits.js';
import { records } from './proxy/records.js';
import { largeResponses, throughput } from './proxy/saturated.js';
import { streams } from './proxy/streams.js';
import { notMeasured } from './support/goals.js';
import { rejectOnInterruption } from './support/interruption.js';
import { pinSelf } from './support/machine.js';
import { noteStart, publish } from './support/results.js';
import type { Publication } from './support/results.js';
import { tolerate } from './support/turns.js';

const TIME_LIMIT_MS = 45 * 60_000;

const BY_NAME: Record<FigureName, Figure> = {
  throughput,
  latency,
  streams,
  'first-byte': firstByte,
  large: largeResponses,
  limits,
  records,
};

async function main(): Promise<void> {
  const options = readOptions();
  const start = noteStart();
  pinSelf(LOAD_CORE);
  const interrupted = rejectOnInterruption(TIME_LIMIT_MS);
  const lab = await openLab();
  try {
    const measured = await Promise.race([measureAll(lab, options), interrupted]);
    const result = {
      goals: measured.flatMap(({ goals }) => goals),
      sections: measured.map(({ section }) => section),
    };
    await publish(describePublication(lab, options), start, result);
  } finally {
    await lab.dispose();
  }
}

/** Measures the figures one after the other. The failure of one does not end the run. */
async function measureAll(lab: Lab, options: Options): Promise<Measured[]> {
  const all: Measured[] = [];
  for (const name of options.only) {
    console.log(`measuring ${name}`);
    const failures: string[] = [];
    const measured = await tolerate(name, () => BY_NAME[name].measure(lab, options), failures);
    all.push(measured ?? failed(BY_NAME[name], name, failures));
  }
  return all;
}

function failed({ goals }: Figure, name: string, failures: readonly string[]): Measured {
  return { goals: goals.map(notMeasured), section: { title: name, text: `Failed: ${failures.join(' ')}` } };
}

function describePublication(lab: Lab, { rounds, seconds, isComplete, output }: Options): Publication {
  const { nginx, portkey } = lab.gateways;
  return {
    name: 'proxy',
    title: 'Proxy',
    parameters: `${rounds} rounds, ${seconds} s per turn, medians`,
    versions: {
      PostgreSQL: lab.workspace.postgresVersion,
      nginx: nginx.version!,
      Portkey: portkey.version!,
    },
    isComplete,
    output,
  };
}

await main();
