import type { Answer } from '../support/connection.js';
import { runOpenLoop } from '../support/open-loop.js';
import { median, percentile } from '../support/statistics.js';
import { markdownTable, number } from '../support/table.js';
import { GATEWAYS } from './gateway.js';
import type { Gateway, Mock } from './gateway.js';
import { atMost } from './goals.js';
import type { Figures } from './goals.js';
import { GATEWAY_CORE } from './lab.js';
import type { Lab } from './lab.js';
import { startMintkeep } from './mintkeep.js';
import type { Options } from './options.js';
import { requestBytes } from './requests.js';
import type { Model } from './requests.js';
import { takeTurns } from './turns.js';

interface Latency {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** One turn. */
interface Times extends Latency {
  /** What the gateway's process used of its core, in percent. */
  readonly corePercent: number;
}

/** Of the service once more, as one that does not sleep between requests. */
const BUSY_POLL_MS = '25';
const SETTING = `BUSY_POLL_MS=${BUSY_POLL_MS}` as const;
const POLLING = `mintkeep, ${SETTING}` as const;
const MEASURED = [...GATEWAYS, POLLING] as const;
type Measured = (typeof MEASURED)[number];
const WHO = ['direct', ...MEASURED] as const;
type Who = (typeof WHO)[number];
type Results = Record<Who, Times[]>;

interface Traffic {
  readonly mock: Mock;
  readonly model: Model;
  readonly perSecond: number;
  /** Of the time before it is measured, at the end of which all that is run for a request is compiled. */
  readonly warmUpPerSecond: number;
  /** What is looked at in an answer. */
  readonly value: (answer: Answer) => number;
}

/** A gateway that has only just started may not be able to take more. */
const FIRST_PER_SECOND = 100;
const FIRST_SECONDS = 3;
const WARM_UP_SECONDS = 15;

/** Latency that each gateway adds at a rate that all of them can take. */
export async function measureLatency(lab: Lab, options: Options): Promise<Figures> {
  const traffic: Traffic = {
    ...{ mock: 'plain', model: 'plain', perSecond: 500, warmUpPerSecond: 500 },
    value: ({ doneMs }) => doneMs,
  };
  const results = await time(lab, traffic, options);
  const { nginx, portkey, mintkeep, [POLLING]: polling } = added(results);
  const goals = [
    atMost('added latency, p50 against nginx', 1.4, mintkeep.p50Ms / nginx.p50Ms, ' ×'),
    atMost(`the same, ${SETTING}`, 1.4, polling.p50Ms / nginx.p50Ms, ' ×'),
    atMost('added latency, p99 against Portkey', 0.1, mintkeep.p99Ms / portkey.p99Ms, ' ×'),
  ];
  return { goals, details: details(`latency at ${traffic.perSecond} requests/s`, results) };
}

/** How much later the first chunk of a stream arrives. */
export async function measureFirstByte(lab: Lab, options: Options): Promise<Figures> {
  const traffic: Traffic = {
    ...{ mock: 'streams', model: 'short', perSecond: 50, warmUpPerSecond: 200 },
    value: ({ firstByteMs }) => firstByteMs,
  };
  const results = await time(lab, traffic, options);
  const { mintkeep, [POLLING]: polling } = added(results);
  const goals = [
    atMost('added time to the first byte of a stream, p50', 0.3, mintkeep.p50Ms, ' ms'),
    atMost(`the same, ${SETTING}`, 0.3, polling.p50Ms, ' ms'),
  ];
  return { goals, details: details(`time to the first byte at ${traffic.perSecond} streams/s`, results) };
}

async function time(lab: Lab, traffic: Traffic, { rounds, seconds }: Options): Promise<Results> {
  const polling = await startMintkeep(lab.workspace, lab.mocks, {
    core: GATEWAY_CORE,
    settings: { BUSY_POLL_MS },
  });
  const gateways: Readonly<Record<Measured, Gateway>> = { ...lab.gateways, [POLLING]: polling };
  const load = async (who: Who, perSecond: number, duration: number) => {
    const route = (who === 'direct' ? lab.direct : gateways[who].routes)[traffic.mock];
    const request = requestBytes(route, traffic.model);
    try {
      return await runOpenLoop({ port: route.port, request, perSecond, seconds: duration });
    } catch (error) {
      throw new Error(`${who} cannot take ${perSecond} requests/s now`, { cause: error });
    }
  };
  try {
    for (const who of WHO) {
      await load(who, FIRST_PER_SECOND, FIRST_SECONDS);
      await load(who, traffic.warmUpPerSecond, WARM_UP_SECONDS);
    }
    return await takeTurns(rounds, WHO, async (who) => {
      const cpuSeconds = () => (who === 'direct' ? 0 : gateways[who].child.cpuSeconds());
      const before = cpuSeconds();
      const answers = await load(who, traffic.perSecond, seconds);
      const corePercent = ((cpuSeconds() - before) / seconds) * 100;
      const times = Float64Array.from(answers.map(traffic.value)).sort();
      return { p50Ms: percentile(times, 0.5), p99Ms: percentile(times, 0.99), corePercent };
    });
  } finally {
    await polling.child.stop();
  }
}

/** Medians of the rounds, each less what the mock upstream alone took in that round. */
function added(results: Results): Record<Measured, Latency> {
  const of = (name: Measured, value: keyof Latency) =>
    median(results[name].map((latency, i) => latency[value] - results.direct[i]![value]));
  const all = MEASURED.map((name) => [name, { p50Ms: of(name, 'p50Ms'), p99Ms: of(name, 'p99Ms') }]);
  return Object.fromEntries(all) as Record<Measured, Latency>;
}

function details(title: string, results: Results): string {
  const more = added(results);
  const rows = WHO.map((who) => {
    const medianOf = (value: keyof Times) => median(results[who].map((times) => times[value]));
    const absolute = [number(medianOf('p50Ms'), 3), number(medianOf('p99Ms'), 3)];
    if (who === 'direct') return [who, ...absolute, '', '', ''];
    const { p50Ms, p99Ms } = more[who];
    return [who, ...absolute, number(p50Ms, 3), number(p99Ms, 3), number(medianOf('corePercent'), 0)];
  });
  const columns = ['', 'p50 ms', 'p99 ms', 'added p50 ms', 'added p99 ms', '% of the core'];
  return `${title}\n\n${markdownTable(columns, rows)}`;
}
