/** Measures the memory of open streams; see README.md. */
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Route } from './proxy/gateway.js';
import { GOALS } from './proxy/goals.js';
import { GATEWAY_CORE, LOAD_CORE } from './proxy/lab.js';
import { createRoute, startService } from './proxy/mintkeep.js';
import { startStreamMock } from './proxy/mocks.js';
import { requestBytes } from './proxy/requests.js';
import { StreamReaders } from './proxy/stream-readers.js';
import type { PinnedChild } from './support/child.js';
import { judge } from './support/goals.js';
import { rejectOnInterruption } from './support/interruption.js';
import { pinSelf } from './support/machine.js';
import { runOpenLoop } from './support/open-loop.js';
import { parsePositive } from './support/options.js';
import { noteStart, publish } from './support/results.js';
import type { Result } from './support/results.js';
import { formatNumber, markdownTable } from './support/table.js';
import { tolerate } from './support/turns.js';
import { createWorkspace } from './support/workspace.js';
import type { Workspace } from './support/workspace.js';

interface Sample {
  readonly minute: number;
  readonly rss: number;
  readonly heapUsed: number;
  readonly external: number;
}

const FULL_MINUTES = '10';
const QUICK_MINUTES = '1';
/** Time for the start, beyond the measurement. */
const SPARE_MINUTES = 5;
const STREAMS = 1_000;
/**
 * Streams that their clients never read, from an upstream that sends without end; backpressure must stop them. The other
 * upstreams are slow, because the kernel buffers some megabytes per connection before a gateway notices a slow client.
 */
const UNREAD_STREAMS = 20;
const SLOW_READ_EVERY_MS = 5_000;
const WARM_UP_SECONDS = 5;
const SAMPLES = 20;
/** Share of the samples that are taken before the heap has its size. */
const SETTLING_SHARE = 0.1;

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    minutes: { type: 'string' },
    output: { type: 'string' },
  },
});

async function main(): Promise<void> {
  const minutes = parsePositive('minutes', options.minutes ?? (options.quick ? QUICK_MINUTES : FULL_MINUTES));
  const start = noteStart();
  pinSelf(LOAD_CORE);
  const interrupted = rejectOnInterruption((minutes + SPARE_MINUTES) * 60_000);
  const workspace = await createWorkspace();
  const children: PinnedChild[] = [];
  try {
    const result = await Promise.race([run(workspace, minutes, children), interrupted]);
    const publication = {
      name: 'memory',
      title: 'Memory of open streams',
      parameters: `${STREAMS} streams, ${minutes} minutes`,
      versions: { PostgreSQL: workspace.postgresVersion },
      isComplete: minutes >= Number(FULL_MINUTES),
      output: options.output,
    };
    await publish(publication, start, result);
  } finally {
    await Promise.all(children.map((child) => child.stop()));
    await workspace.dispose();
  }
}

async function run(workspace: Workspace, minutes: number, children: PinnedChild[]): Promise<Result> {
  const mock = await startStreamMock(LOAD_CORE);
  children.push(mock);
  const service = await startService(workspace, { core: GATEWAY_CORE });
  children.push(service);
  const route = await createRoute(service.port, mock.port, 'memory');
  await tolerate('warm-up', () => warmUp(route));
  const before = { minute: 0, ...(await service.memory()) };
  return report(before, await watch(service, route, minutes));
}

async function warmUp(route: Route): Promise<void> {
  const targets = [{ port: route.port, request: requestBytes(route, 'short') }];
  await runOpenLoop({ targets, perSecond: 100, seconds: WARM_UP_SECONDS });
}

async function watch(service: PinnedChild, route: Route, minutes: number): Promise<Sample[]> {
  const requests = Array.from({ length: STREAMS }, (_, i) =>
    requestBytes(route, i < UNREAD_STREAMS ? 'flood' : 'slow'),
  );
  const readers = await StreamReaders.open(route.port, requests, true);
  const stop = readSlowly(readers.streams);
  const samples: Sample[] = [];
  try {
    for (let i = 1; i <= SAMPLES; i++) {
      await delay((minutes * 60_000) / SAMPLES);
      samples.push({ minute: (i * minutes) / SAMPLES, ...(await service.memory()) });
      readers.assertAllOpen();
    }
  } finally {
    stop();
    readers.close();
  }
  return samples;
}

/** Lets one socket after the other read once, except the first ones, which never read. */
function readSlowly(sockets: readonly Socket[]): () => void {
  let next = UNREAD_STREAMS;
  const timer = setInterval(() => {
    const socket = sockets[next]!;
    next = next + 1 === sockets.length ? UNREAD_STREAMS : next + 1;
    socket.once('data', () => socket.pause());
    socket.resume();
  }, SLOW_READ_EVERY_MS / sockets.length);
  return () => clearInterval(timer);
}

function report(before: Sample, samples: readonly Sample[]): Result {
  const kibPerStream = ({ rss }: Sample) => (rss - before.rss) / STREAMS / 1_024;
  const settled = samples.slice(Math.floor(samples.length * SETTLING_SHARE));
  const half = settled.length >> 1;
  const mean = (some: readonly Sample[]) => some.map(kibPerStream).reduce((a, b) => a + b, 0) / some.length;
  const growth = mean(settled.slice(half)) - mean(settled.slice(0, half));
  const goals = [
    judge(GOALS.streamMemory, Math.max(...settled.map(kibPerStream))),
    judge(GOALS.streamGrowth, growth),
  ];
  const mib = (bytes: number) => formatNumber(bytes / 2 ** 20, 1);
  const rows = [before, ...samples].map((sample) => [
    formatNumber(sample.minute, 1),
    ...[sample.rss, sample.heapUsed, sample.external].map(mib),
    formatNumber(kibPerStream(sample), 1),
  ]);
  const columns = ['minute', 'RSS MiB', 'heap MiB', 'external MiB', 'RSS KiB per stream'];
  const title = `${STREAMS} open streams with slow readers, after garbage collections`;
  return { goals, sections: [{ title, text: markdownTable(columns, rows) }] };
}

await main();
