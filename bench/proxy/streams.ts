import { setTimeout as delay } from 'node:timers/promises';
import { judgeRounds } from '../support/goals.js';
import { formatNumber } from '../support/table.js';
import { medianOfRounds, medianRatio, takeTurns, tolerate } from '../support/turns.js';
import { turnsSection } from './figures.js';
import type { Figure } from './figures.js';
import { GATEWAYS } from './gateway.js';
import type { Gateway } from './gateway.js';
import { GOALS } from './goals.js';
import { requestBytes } from './requests.js';
import { StreamReaders } from './stream-readers.js';

interface Relayed {
  readonly cpuUs: number;
  readonly chunksPerSecond: number;
}

const STREAMS = 200;
const CHUNK_PERIOD_MS = 20;
/** Deviation of the rate above which chunks are merged on the way, so that their cost is not comparable. */
const MAX_DEVIATION = 0.05;
const WARM_UP_SECONDS = 2;
/** Closing the streams must not cost CPU time of the next turn. */
const CLOSING_MS = 500;

/** CPU time per chunk while 200 streams send one every 20 ms each. */
export const streams: Figure = {
  goals: [GOALS.chunkToNginx, GOALS.chunkToPortkey],
  async measure(lab, { rounds, seconds }) {
    for (const name of GATEWAYS) {
      await tolerate(`warm-up of ${name}`, () => relay(lab.gateways[name], WARM_UP_SECONDS));
    }
    const turns = await takeTurns(rounds, GATEWAYS, (name) => relay(lab.gateways[name], seconds));
    const { mintkeep, nginx, portkey } = turns.rounds;
    const cpu = ({ cpuUs }: Relayed) => cpuUs;
    const goals = [
      judgeRounds(GOALS.chunkToNginx, medianRatio(mintkeep, nginx, cpu), mintkeep, [nginx]),
      judgeRounds(GOALS.chunkToPortkey, medianRatio(mintkeep, portkey, cpu), mintkeep, [portkey]),
    ];
    const title = `Streams: ${STREAMS} with a chunk every ${CHUNK_PERIOD_MS} ms each`;
    const section = turnsSection(title, ['CPU µs per chunk', 'chunks/s'], turns, (name) => [
      formatNumber(medianOfRounds(turns.rounds[name], cpu), 1),
      formatNumber(medianOfRounds(turns.rounds[name], ({ chunksPerSecond }) => chunksPerSecond)),
    ]);
    return { goals, section };
  },
};

async function relay({ child, routes }: Gateway, seconds: number): Promise<Relayed> {
  const request = requestBytes(routes.streams, 'paced');
  const requests = Array.from({ length: STREAMS }, () => request);
  const readers = await StreamReaders.open(routes.streams.port, requests);
  try {
    await delay(WARM_UP_SECONDS * 1_000);
    const [cpu, events, start] = [child.cpuSeconds(), readers.events, performance.now()];
    await delay(seconds * 1_000);
    const chunks = readers.events - events;
    const cpuUs = ((child.cpuSeconds() - cpu) / chunks) * 1e6;
    const chunksPerSecond = (chunks / (performance.now() - start)) * 1_000;
    readers.assertAllOpen();
    assertRateHeld(chunksPerSecond);
    return { cpuUs, chunksPerSecond };
  } finally {
    readers.close();
    await delay(CLOSING_MS);
  }
}

function assertRateHeld(chunksPerSecond: number): void {
  const rate = (STREAMS * 1_000) / CHUNK_PERIOD_MS;
  if (Math.abs(chunksPerSecond / rate - 1) <= MAX_DEVIATION) return;
  throw new Error(`${rate} chunks/s not held: ${chunksPerSecond.toFixed(0)} per second arrived`);
}
