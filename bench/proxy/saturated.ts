import { judgeRounds } from '../support/goals.js';
import { formatNumber } from '../support/table.js';
import { medianOfRounds, medianRatio, takeTurns, tolerate } from '../support/turns.js';
import type { Turns } from '../support/turns.js';
import { measureCpu } from './cpu.js';
import { turnsSection } from './figures.js';
import type { Figure } from './figures.js';
import { GATEWAYS } from './gateway.js';
import type { GatewayName, Mock } from './gateway.js';
import { GOALS } from './goals.js';
import type { Lab } from './lab.js';
import type { Options } from './options.js';
import { CONNECTIONS, runWrk } from './wrk.js';

interface Saturated {
  readonly requestsPerSecond: number;
  readonly cpuUs: number;
}

const rate = ({ requestsPerSecond }: Saturated) => requestsPerSecond;
const cpu = ({ cpuUs }: Saturated) => cpuUs;

/** Number of requests after which the code of every gateway is compiled. A slow gateway gets ten seconds at most. */
const WARM_UP_REQUESTS = 20_000;
const WARM_UP_TURN_SECONDS = 2;
const WARM_UP_TURNS = 5;

/** Throughput and CPU time at saturation. */
export const throughput: Figure = {
  goals: [GOALS.rateToPortkey, GOALS.rateToNginx, GOALS.cpuToNginx, GOALS.cpuToPortkey],
  async measure(lab, options) {
    const turns = await saturate(lab, 'plain', options);
    const { mintkeep, nginx, portkey } = turns.rounds;
    const goals = [
      judgeRounds(GOALS.rateToPortkey, medianRatio(mintkeep, portkey, rate), mintkeep, [portkey]),
      judgeRounds(GOALS.rateToNginx, medianRatio(mintkeep, nginx, rate), mintkeep, [nginx]),
      judgeRounds(GOALS.cpuToNginx, medianRatio(mintkeep, nginx, cpu), mintkeep, [nginx]),
      judgeRounds(GOALS.cpuToPortkey, medianRatio(mintkeep, portkey, cpu), mintkeep, [portkey]),
    ];
    return { goals, section: section(`Throughput: 1 KiB each way, ${CONNECTIONS} connections`, turns) };
  },
};

/** The same with responses of 100 KiB. */
export const largeResponses: Figure = {
  goals: [GOALS.largeResponse],
  async measure(lab, options) {
    const turns = await saturate(lab, 'large', options);
    const { mintkeep, nginx } = turns.rounds;
    const goal = judgeRounds(GOALS.largeResponse, medianRatio(mintkeep, nginx, cpu), mintkeep, [nginx]);
    return { goals: [goal], section: section(`Responses of 100 KiB, ${CONNECTIONS} connections`, turns) };
  },
};

async function saturate(
  lab: Lab,
  mock: Mock,
  { rounds, seconds }: Options,
): Promise<Turns<GatewayName, Saturated>> {
  const load = (name: GatewayName, duration: number) =>
    runWrk(lab.gateways[name].routes[mock], duration, lab.workspace.dataDir);
  for (const name of GATEWAYS) {
    await tolerate(`warm-up of ${name}`, () => warmUp(() => load(name, WARM_UP_TURN_SECONDS)));
  }
  return takeTurns(rounds, GATEWAYS, async (name) => {
    const [report, cpuSeconds] = await measureCpu(lab.gateways[name].child, () => load(name, seconds));
    return {
      requestsPerSecond: report.requests / report.seconds,
      cpuUs: (cpuSeconds / report.requests) * 1e6,
    };
  });
}

async function warmUp(turn: () => Promise<{ requests: number }>): Promise<void> {
  let done = 0;
  for (let i = 0; i < WARM_UP_TURNS && done < WARM_UP_REQUESTS; i++) done += (await turn()).requests;
}

function section(title: string, turns: Turns<GatewayName, Saturated>) {
  return turnsSection(title, ['requests/s', 'CPU µs per request'], turns, (name) => [
    formatNumber(medianOfRounds(turns.rounds[name], rate)),
    formatNumber(medianOfRounds(turns.rounds[name], cpu), 1),
  ]);
}
