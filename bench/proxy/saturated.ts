import { median } from '../support/statistics.js';
import { markdownTable, number } from '../support/table.js';
import { GATEWAYS } from './gateway.js';
import type { GatewayName, Mock } from './gateway.js';
import { atLeast, atMost } from './goals.js';
import type { Figures } from './goals.js';
import type { Lab } from './lab.js';
import type { Options } from './options.js';
import { cpuOf, ratio, takeTurns } from './turns.js';
import { CONNECTIONS, runWrk } from './wrk.js';
import type { WrkReport } from './wrk.js';

interface Saturated {
  readonly requestsPerSecond: number;
  readonly cpuUs: number;
}

type Results = Record<GatewayName, Saturated[]>;

/** What a program that is compiled as it runs needs to be at its best; a slow one gets what it does in ten seconds. */
const WARM_UP_REQUESTS = 20_000;
const WARM_UP_TURN_SECONDS = 2;
const WARM_UP_TURNS = 5;

/** As many requests as 16 connections bring through. */
export async function measureThroughput(lab: Lab, options: Options): Promise<Figures> {
  const results = await saturate(lab, 'plain', options);
  const { mintkeep, nginx, portkey } = results;
  const rate = ({ requestsPerSecond }: Saturated) => requestsPerSecond;
  const goals = [
    atLeast('requests/s against Portkey', 15, ratio(mintkeep, portkey, rate), ' ×'),
    atLeast('requests/s against nginx', 0.4, ratio(mintkeep, nginx, rate), ' ×'),
    atMost('CPU a request against nginx', 2.5, ratio(mintkeep, nginx, cpu), ' ×'),
  ];
  return { goals, details: details(`1 KiB each way, ${CONNECTIONS} connections`, results) };
}

export async function measureLarge(lab: Lab, options: Options): Promise<Figures> {
  const results = await saturate(lab, 'large', options);
  const goal = atMost(
    'CPU for a 100 KiB answer against nginx',
    3.2,
    ratio(results.mintkeep, results.nginx, cpu),
    ' ×',
  );
  return { goals: [goal], details: details(`answers of 100 KiB, ${CONNECTIONS} connections`, results) };
}

const cpu = ({ cpuUs }: Saturated) => cpuUs;

async function saturate(lab: Lab, mock: Mock, { rounds, seconds }: Options): Promise<Results> {
  const load = (name: GatewayName, duration: number) =>
    runWrk(lab.gateways[name].routes[mock], duration, lab.workspace.dataDir);
  for (const name of GATEWAYS) await warmUp(() => load(name, WARM_UP_TURN_SECONDS));
  return takeTurns(rounds, GATEWAYS, async (name) => {
    const [report, cpuSeconds] = await cpuOf(lab.gateways[name].child, () => load(name, seconds));
    return {
      requestsPerSecond: report.requests / report.seconds,
      cpuUs: (cpuSeconds / report.requests) * 1e6,
    };
  });
}

async function warmUp(turn: () => Promise<WrkReport>): Promise<void> {
  let done = 0;
  for (let i = 0; i < WARM_UP_TURNS && done < WARM_UP_REQUESTS; i++) done += (await turn()).requests;
}

function details(title: string, results: Results): string {
  const rows = GATEWAYS.map((name) => [
    name,
    number(median(results[name].map(({ requestsPerSecond }) => requestsPerSecond))),
    number(median(results[name].map(cpu)), 1),
  ]);
  return `${title}\n\n${markdownTable(['', 'requests/s', 'CPU µs a request'], rows)}`;
}
