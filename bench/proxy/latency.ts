import type { Answer } from '../support/connection.js';
import { runOpenLoop } from '../support/open-loop.js';
import { median, percentile } from '../support/statistics.js';
import { markdownTable, number } from '../support/table.js';
import { GATEWAYS } from './gateway.js';
import type { GatewayName, Mock } from './gateway.js';
import { atMost } from './goals.js';
import type { Figures } from './goals.js';
import type { Lab } from './lab.js';
import type { Options } from './options.js';
import { requestBytes } from './requests.js';
import type { Model } from './requests.js';
import { takeTurns } from './turns.js';

interface Latency {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

type Who = GatewayName | 'direct';
type Results = Record<Who, Latency[]>;

interface Traffic {
  readonly mock: Mock;
  readonly model: Model;
  readonly perSecond: number;
  /** What is looked at in an answer. */
  readonly value: (answer: Answer) => number;
}

const WHO: readonly Who[] = ['direct', ...GATEWAYS];
const REQUESTS_PER_SECOND = 500;
const STREAMS_PER_SECOND = 50;
const WARM_UP_SECONDS = 3;

/** Latency that each gateway adds at a rate that none finds hard. */
export async function measureLatency(lab: Lab, options: Options): Promise<Figures> {
  const perSecond = REQUESTS_PER_SECOND;
  const value = ({ doneMs }: Answer) => doneMs;
  const results = await time(lab, { mock: 'plain', model: 'plain', perSecond, value }, options);
  const { nginx, portkey, mintkeep } = added(results);
  const goals = [
    atMost('added latency, p50 against nginx', 1.4, mintkeep.p50Ms / nginx.p50Ms, ' ×'),
    atMost('added latency, p99 against Portkey', 0.1, mintkeep.p99Ms / portkey.p99Ms, ' ×'),
  ];
  return { goals, details: details(`latency at ${perSecond} requests/s`, results) };
}

/** How much later the first chunk of a stream arrives. */
export async function measureFirstByte(lab: Lab, options: Options): Promise<Figures> {
  const perSecond = STREAMS_PER_SECOND;
  const value = ({ firstByteMs }: Answer) => firstByteMs;
  const results = await time(lab, { mock: 'streams', model: 'short', perSecond, value }, options);
  const goal = atMost(
    'added time to the first byte of a stream, p50',
    0.3,
    added(results).mintkeep.p50Ms,
    ' ms',
  );
  return { goals: [goal], details: details(`time to the first byte at ${perSecond} streams/s`, results) };
}

async function time(lab: Lab, traffic: Traffic, { rounds, seconds }: Options): Promise<Results> {
  const load = async (who: Who, duration: number) => {
    const route = (who === 'direct' ? lab.direct : lab.gateways[who].routes)[traffic.mock];
    const request = requestBytes(route, traffic.model);
    const { perSecond } = traffic;
    try {
      return await runOpenLoop({ port: route.port, request, perSecond, seconds: duration });
    } catch (error) {
      throw new Error(`${who} cannot take ${perSecond} requests/s now`, { cause: error });
    }
  };
  for (const who of WHO) await load(who, WARM_UP_SECONDS);
  return takeTurns(rounds, WHO, async (who) => {
    const times = Float64Array.from((await load(who, seconds)).map(traffic.value)).sort();
    return { p50Ms: percentile(times, 0.5), p99Ms: percentile(times, 0.99) };
  });
}

/** Medians of the rounds, each less what the mock upstream alone took in that round. */
function added(results: Results): Record<GatewayName, Latency> {
  const of = (name: GatewayName, value: keyof Latency) =>
    median(results[name].map((latency, i) => latency[value] - results.direct[i]![value]));
  const all = GATEWAYS.map((name) => [name, { p50Ms: of(name, 'p50Ms'), p99Ms: of(name, 'p99Ms') }]);
  return Object.fromEntries(all) as Record<GatewayName, Latency>;
}

function details(title: string, results: Results): string {
  const more = added(results);
  const rows = WHO.map((who) => [
    who,
    number(median(results[who].map(({ p50Ms }) => p50Ms)), 3),
    number(median(results[who].map(({ p99Ms }) => p99Ms)), 3),
    ...(who === 'direct' ? ['', ''] : [number(more[who].p50Ms, 3), number(more[who].p99Ms, 3)]),
  ]);
  const columns = ['', 'p50 ms', 'p99 ms', 'added p50 ms', 'added p99 ms'];
  return `${title}\n\n${markdownTable(columns, rows)}`;
}
