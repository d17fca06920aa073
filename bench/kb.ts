/** Measures the knowledge base beside a bare handler; see README.md. */
import { parseArgs } from 'node:util';
import { PinnedChild } from './support/child.js';
import { assertSameAnswers } from './support/compare.js';
import { interruption } from './support/interruption.js';
import { prepareKnowledgeBase } from './support/knowledge-base.js';
import type { Scenario } from './support/knowledge-base.js';
import { describeMachine, pinSelf } from './support/machine.js';
import { cpuRatio, measure, medians } from './support/rounds.js';
import type { Figures } from './support/rounds.js';
import { serviceSettings } from './support/session.js';
import { markdownTable, number } from './support/table.js';
import { createWorkspace } from './support/workspace.js';
import type { Workspace } from './support/workspace.js';

const SERVER_CORE = 0;
const LOAD_CORE = 1;
const CONNECTIONS = 16;
const WARM_UP_SECONDS = 2;
const MEMORY_REQUESTS = 100_000;
const MEMORY_STEP = 10_000;
const TIME_LIMIT_MS = 20 * 60_000;

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    /** Options of Node for the service, such as --cpu-prof. */
    node: { type: 'string', multiple: true, default: [] },
    /** Measures the scenarios whose names contain this. */
    only: { type: 'string', default: '' },
    'skip-memory': { type: 'boolean', default: false },
  },
});

interface Servers {
  readonly service: PinnedChild;
  readonly bare: PinnedChild;
}

type Measured = Record<keyof Servers, Figures[]>;

async function main(): Promise<void> {
  pinSelf(LOAD_CORE);
  const interrupted = interruption(TIME_LIMIT_MS);
  interrupted.catch(() => undefined); // for when it comes before it is waited for
  const workspace = await createWorkspace();
  const children: PinnedChild[] = [];
  try {
    await Promise.race([run(workspace, children), interrupted]);
  } finally {
    await Promise.all(children.map((child) => child.stop()));
    await workspace.dispose();
  }
}

async function run(workspace: Workspace, children: PinnedChild[]): Promise<void> {
  const start = async (args: string[]) => {
    const child = await PinnedChild.startNode({ args, core: SERVER_CORE, env: serviceSettings(workspace) });
    children.push(child);
    return child;
  };
  const service = await start([...options.node, 'dist/main.js']);
  const bare = await start(['--import', 'tsx', 'bench/bare-kb.ts']);
  const scenarios = await prepareKnowledgeBase(service);
  const measured = scenarios.filter(({ name }) => name.includes(options.only));
  const results = await measureAll(measured, { service, bare });
  console.log(`\n${describeMachine()}, PostgreSQL ${workspace.postgresVersion}`);
  printTable(results);
  if (!options['skip-memory']) await watchMemory(scenarios, service);
}

/** Service and bare handler take turns within a round, and who begins changes with the round. */
async function measureAll(scenarios: readonly Scenario[], servers: Servers): Promise<Map<string, Measured>> {
  const results = new Map<string, Measured>();
  for (const { name, status, next } of scenarios) {
    results.set(name, { service: [], bare: [] });
    await assertSameAnswers(next, status, [servers.service, servers.bare]);
    for (const server of [servers.service, servers.bare]) {
      await measure(server, { status, next, connections: CONNECTIONS, until: { seconds: WARM_UP_SECONDS } });
    }
  }
  for (let round = 0; round < Number(options.rounds); round++) {
    for (const { name, status, next } of scenarios) {
      for (const who of round % 2 === 0 ? (['service', 'bare'] as const) : (['bare', 'service'] as const)) {
        const until = { seconds: Number(options.seconds) };
        const figures = await measure(servers[who], { status, next, connections: CONNECTIONS, until });
        results.get(name)![who].push(figures);
      }
    }
  }
  return results;
}

function printTable(results: Map<string, Measured>): void {
  const rows = [...results].flatMap(([name, { service, bare }]) => [
    [name, 'service', ...cells(medians(service)), number(cpuRatio(service, bare), 2)],
    ['', 'bare', ...cells(medians(bare)), ''],
  ]);
  console.log(`${CONNECTIONS} connections, ${options.rounds} rounds of ${options.seconds} s, medians\n`);
  const columns = ['request', 'server', 'requests/s', 'p50 ms', 'p99 ms', 'CPU µs a request', 'ratio'];
  console.log(markdownTable(columns, rows, 2));
}

function cells({ requestsPerSecond, p50Ms, p99Ms, cpuPerRequestUs }: Figures): string[] {
  return [number(requestsPerSecond), number(p50Ms, 2), number(p99Ms, 2), number(cpuPerRequestUs)];
}

/** All kinds of requests in turn, and what the service holds after a garbage collection every now and then. */
async function watchMemory(scenarios: readonly Scenario[], service: PinnedChild): Promise<void> {
  const rows: string[][] = [];
  for (let sent = 0; sent <= MEMORY_REQUESTS; sent += MEMORY_STEP) {
    for (const { status, next } of scenarios) {
      const until = { requests: MEMORY_STEP / scenarios.length };
      await measure(service, { status, next, connections: CONNECTIONS, until });
    }
    const { rss, heapUsed, external } = await service.memory();
    rows.push([number(sent), ...[rss, heapUsed, external].map((bytes) => number(bytes / 2 ** 20, 1))]);
  }
  console.log('\nMemory of the service after a garbage collection, MiB\n');
  console.log(markdownTable(['requests after the warm-up', 'RSS', 'heap', 'external'], rows));
}

await main();
