import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { PinnedChild } from '../support/child.js';
import { runOpenLoop } from '../support/open-loop.js';
import { markdownTable, number } from '../support/table.js';
import type { Route } from './gateway.js';
import { atMost } from './goals.js';
import type { Figures } from './goals.js';
import { GATEWAY_CORE } from './lab.js';
import type { Lab } from './lab.js';
import { routeTo, startService } from './mintkeep.js';
import type { Options } from './options.js';
import { requestBytes } from './requests.js';
import { StreamReaders } from './stream-readers.js';

interface Sample {
  readonly minute: number;
  readonly rss: number;
  readonly heapUsed: number;
  readonly external: number;
}

const STREAMS = 1_000;
/** Readers that do not read at all, of an upstream that sends without end: their streams must stand still. */
const STUCK = 20;
const SLOW_READ_EVERY_MS = 5_000;
const WARM_UP_SECONDS = 5;
const SAMPLES = 20;
/** Streams are open and the heap has grown to them. */
const SETTLING_SHARE = 0.1;

/**
 * What 1,000 open streams with slow readers hold. The kernel takes some megabytes for each connection before a
 * gateway notices that its client is slow, so most streams are slow themselves; some bring more than any kernel takes.
 */
export async function measureMemory(lab: Lab, { minutes }: Options): Promise<Figures> {
  const child = await startService(lab.workspace, { core: GATEWAY_CORE }); // what others have grown in is not for measuring
  try {
    return await watch(child, await routeTo(child.port, lab.mocks.ports.streams, 'memory'), minutes);
  } finally {
    await child.stop();
  }
}

async function watch(child: PinnedChild, route: Route, minutes: number): Promise<Figures> {
  await warmUp(route);
  const before = await child.memory();
  const requests = Array.from({ length: STREAMS }, (_, i) =>
    requestBytes(route, i < STUCK ? 'flood' : 'slow'),
  );
  const readers = await StreamReaders.open(route.port, requests, true);
  const stop = readSlowly(readers.streams);
  const samples: Sample[] = [];
  try {
    for (let i = 1; i <= SAMPLES; i++) {
      await delay((minutes * 60_000) / SAMPLES);
      samples.push({ minute: (i * minutes) / SAMPLES, ...(await child.memory()) });
      readers.assertAllOpen();
    }
  } finally {
    stop();
    readers.close();
  }
  return report(before, samples, minutes);
}

async function warmUp(route: Route): Promise<void> {
  const request = requestBytes(route, 'short');
  await runOpenLoop({ port: route.port, request, perSecond: 100, seconds: WARM_UP_SECONDS });
}

/** Each is let read for a moment now and then; the first ones never. */
function readSlowly(sockets: readonly Socket[]): () => void {
  let next = STUCK;
  const timer = setInterval(() => {
    const socket = sockets[next]!;
    next = next + 1 === sockets.length ? STUCK : next + 1;
    socket.once('data', () => socket.pause());
    socket.resume();
  }, SLOW_READ_EVERY_MS / sockets.length);
  return () => clearInterval(timer);
}

function report(before: NodeJS.MemoryUsage, samples: readonly Sample[], minutes: number): Figures {
  const perStream = ({ rss }: Sample) => (rss - before.rss) / STREAMS / 1_024;
  const settled = samples.slice(Math.floor(samples.length * SETTLING_SHARE));
  const half = settled.length >> 1;
  const mean = (some: readonly Sample[]) => some.map(perStream).reduce((a, b) => a + b, 0) / some.length;
  const growth = mean(settled.slice(half)) - mean(settled.slice(0, half));
  const goals = [
    atMost('memory of an open stream', 60, Math.max(...settled.map(perStream)), ' KiB'),
    atMost(`growth of it in the second half of ${minutes} minutes`, 2, growth, ' KiB'),
  ];
  const mib = (bytes: number) => number(bytes / 2 ** 20, 1);
  const rows = [{ minute: 0, ...before }, ...samples].map((sample) => [
    number(sample.minute, 1),
    ...[sample.rss, sample.heapUsed, sample.external].map(mib),
    number(perStream(sample), 1),
  ]);
  const columns = ['minute', 'RSS MiB', 'heap MiB', 'external MiB', 'RSS KiB a stream'];
  return { goals, details: `${STREAMS} open streams with slow readers\n\n${markdownTable(columns, rows)}` };
}
