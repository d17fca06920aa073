import { setTimeout as delay } from 'node:timers/promises';
import type { TimedResponse } from '../support/connection.js';
import { judgeRounds } from '../support/goals.js';
import { runOpenLoop } from '../support/open-loop.js';
import type { Section } from '../support/results.js';
import { percentile } from '../support/statistics.js';
import { formatNumber } from '../support/table.js';
import { medianOfPairs, medianOfRounds, takeTurns, tolerate } from '../support/turns.js';
import type { Turns } from '../support/turns.js';
import { turnsSection } from './figures.js';
import type { Figure } from './figures.js';
import { GATEWAYS } from './gateway.js';
import type { GatewayName, Mock } from './gateway.js';
import { GOALS } from './goals.js';
import type { Lab } from './lab.js';
import type { Options } from './options.js';
import { requestBytes } from './requests.js';
import type { Model } from './requests.js';

/** Figures of a turn at a fixed rate. */
interface Times {
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU time of the gateway's process in percent of its core. */
  readonly corePercent: number;
}

/** The gateways, and the mock upstream without a gateway. */
const SUBJECTS = ['direct', ...GATEWAYS] as const;
type Subject = (typeof SUBJECTS)[number];
type Results = Turns<Subject, Times>;

interface Traffic {
  readonly mock: Mock;
  readonly model: Model;
  readonly perSecond: number;
  /** Rate of the warm-up; high enough to get all code of a request compiled. */
  readonly warmUpPerSecond: number;
  /** The measured time of a response. */
  readonly time: (response: TimedResponse) => number;
}

const LATENCY: Traffic = {
  mock: 'plain',
  model: 'plain',
  perSecond: 500,
  warmUpPerSecond: 500,
  time: ({ doneMs }) => doneMs,
};

const FIRST_BYTE: Traffic = {
  mock: 'streams',
  model: 'short',
  perSecond: 50,
  warmUpPerSecond: 200,
  time: ({ firstByteMs }) => firstByteMs,
};

/** Rate and duration of the first part of a warm-up: a gateway that has just started may not hold more. */
const FIRST_PER_SECOND = 100;
const FIRST_SECONDS = 3;
/** An overloaded gateway works on abandoned requests for a while, and must not disturb the next turn. */
const RECOVERY_MS = 2_000;

/** Latency that each gateway adds at a rate that all of them can hold. */
export const latency: Figure = {
  goals: [GOALS.addedLatency],
  async measure(lab, options) {
    const turns = await measureTraffic(lab, LATENCY, options);
    const { direct, mintkeep, nginx } = turns.rounds;
    const ratio = added(turns, 'mintkeep', 'p50Ms') / added(turns, 'nginx', 'p50Ms');
    const goals = [judgeRounds(GOALS.addedLatency, ratio, mintkeep, [direct, nginx])];
    return { goals, section: section(`Latency at ${LATENCY.perSecond} requests/s`, turns) };
  },
};

/** Delay of the first chunk of a stream by each gateway. */
export const firstByte: Figure = {
  goals: [GOALS.addedFirstByte],
  async measure(lab, options) {
    const turns = await measureTraffic(lab, FIRST_BYTE, options);
    const { direct, mintkeep } = turns.rounds;
    const goals = [judgeRounds(GOALS.addedFirstByte, added(turns, 'mintkeep', 'p50Ms'), mintkeep, [direct])];
    return { goals, section: section(`Time to the first byte at ${FIRST_BYTE.perSecond} streams/s`, turns) };
  },
};

async function measureTraffic(lab: Lab, traffic: Traffic, options: Options): Promise<Results> {
  const { rounds, seconds, warmUpSeconds } = options;
  const load = async (subject: Subject, perSecond: number, duration: number) => {
    const route = (subject === 'direct' ? lab.direct : lab.gateways[subject].routes)[traffic.mock];
    const targets = [{ port: route.port, request: requestBytes(route, traffic.model) }];
    try {
      return await runOpenLoop({ targets, perSecond, seconds: duration });
    } catch (error) {
      await delay(RECOVERY_MS);
      throw error;
    }
  };
  for (const subject of SUBJECTS) {
    const what = `warm-up of ${subject}`;
    await tolerate(what, () => load(subject, FIRST_PER_SECOND, FIRST_SECONDS));
    await tolerate(what, () => load(subject, traffic.warmUpPerSecond, warmUpSeconds));
  }
  return takeTurns(rounds, SUBJECTS, async (subject) => {
    const cpuSeconds = () => (subject === 'direct' ? 0 : lab.gateways[subject].child.cpuSeconds());
    const before = cpuSeconds();
    const responses = await load(subject, traffic.perSecond, seconds);
    const corePercent = ((cpuSeconds() - before) / seconds) * 100;
    const times = Float64Array.from(responses.map(traffic.time)).sort();
    return { p50Ms: percentile(times, 0.5), p99Ms: percentile(times, 0.99), corePercent };
  });
}

/** Median over the rounds of the time that the mock upstream alone does not need in the same round. */
function added({ rounds }: Results, name: GatewayName, value: 'p50Ms' | 'p99Ms'): number {
  return medianOfPairs(rounds[name], rounds.direct, (times, direct) => times[value] - direct[value]);
}

function section(title: string, turns: Results): Section {
  const columns = ['p50 ms', 'p99 ms', 'added p50 ms', 'added p99 ms', '% of the core'];
  return turnsSection(title, columns, turns, (subject) => {
    const median = (value: keyof Times) => medianOfRounds(turns.rounds[subject], (times) => times[value]);
    const absolute = [formatNumber(median('p50Ms'), 3), formatNumber(median('p99Ms'), 3)];
    if (subject === 'direct') return [...absolute, '', '', ''];
    const more = [added(turns, subject, 'p50Ms'), added(turns, subject, 'p99Ms')];
    return [...absolute, ...more.map((ms) => formatNumber(ms, 3)), formatNumber(median('corePercent'), 0)];
  });
}
