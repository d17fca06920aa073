import { setTimeout as delay } from 'node:timers/promises';
import { median } from '../support/statistics.js';
import { markdownTable, number } from '../support/table.js';
import { GATEWAYS } from './gateway.js';
import type { Gateway } from './gateway.js';
import { atMost } from './goals.js';
import type { Figures } from './goals.js';
import type { Lab } from './lab.js';
import type { Options } from './options.js';
import { requestBytes } from './requests.js';
import { StreamReaders } from './stream-readers.js';
import { ratio, takeTurns } from './turns.js';

interface Relayed {
  readonly cpuUs: number;
  readonly chunksPerSecond: number;
}

const STREAMS = 200;
const WARM_UP_SECONDS = 2;

/** What a chunk costs while 200 streams bring one every 20 ms each. */
export async function measureStreams(lab: Lab, { rounds, seconds }: Options): Promise<Figures> {
  for (const name of GATEWAYS) await relay(lab.gateways[name], WARM_UP_SECONDS);
  const results = await takeTurns(rounds, GATEWAYS, (name) => relay(lab.gateways[name], seconds));
  const { mintkeep, nginx, portkey } = results;
  const cpu = ({ cpuUs }: Relayed) => cpuUs;
  const goals = [
    atMost('CPU a relayed chunk against nginx unbuffered', 2.5, ratio(mintkeep, nginx, cpu), ' ×'),
    atMost('CPU a relayed chunk against Portkey', 0.35, ratio(mintkeep, portkey, cpu), ' ×'),
  ];
  const rows = GATEWAYS.map((name) => [
    name,
    number(median(results[name].map(cpu)), 1),
    number(median(results[name].map(({ chunksPerSecond }) => chunksPerSecond))),
  ]);
  const table = markdownTable(['', 'CPU µs a chunk', 'chunks/s'], rows);
  return { goals, details: `${STREAMS} streams with a chunk every 20 ms each\n\n${table}` };
}

async function relay({ child, routes }: Gateway, seconds: number): Promise<Relayed> {
  const request = requestBytes(routes.streams, 'paced');
  const readers = await StreamReaders.open(
    routes.streams.port,
    Array.from({ length: STREAMS }, () => request),
  );
  try {
    await delay(WARM_UP_SECONDS * 1_000);
    const [cpu, events, start] = [child.cpuSeconds(), readers.events, performance.now()];
    await delay(seconds * 1_000);
    const chunks = readers.events - events;
    const cpuUs = ((child.cpuSeconds() - cpu) / chunks) * 1e6;
    readers.assertAllOpen();
    return { cpuUs, chunksPerSecond: (chunks / (performance.now() - start)) * 1_000 };
  } finally {
    readers.close();
    await delay(500); // what closing costs is not the next one's
  }
}
