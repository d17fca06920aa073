/** Measures the knowledge base beside a bare handler; see README.md. */
import { parseArgs } from 'node:util';
import { PinnedChild } from './support/child.js';
import { assertSameResponses } from './support/compare.js';
import { judgeRounds } from './support/goals.js';
import type { Goal, JudgedGoal } from './support/goals.js';
import { rejectOnInterruption } from './support/interruption.js';
import { prepareKnowledgeBase } from './support/knowledge-base.js';
import type { Scenario } from './support/knowledge-base.js';
import { pinSelf } from './support/machine.js';
import { measureLoad } from './support/measure-load.js';
import type { LoadFigures } from './support/measure-load.js';
import { parseCount, parsePositive } from './support/options.js';
import { noteStart, publish } from './support/results.js';
import type { Result, Section } from './support/results.js';
import { serviceSettings } from './support/session.js';
import { formatNumber, markdownTable } from './support/table.js';
import { describeRounds, medianOfRounds, medianRatio, takeTurns, tolerate } from './support/turns.js';
import type { Turns } from './support/turns.js';
import { createWorkspace } from './support/workspace.js';
import type { Workspace } from './support/workspace.js';

const SERVER_CORE = 0;
const LOAD_CORE = 1;
const CONNECTIONS = 16;
const WARM_UP_SECONDS = 2;
const MEMORY_REQUESTS = 100_000;
const MEMORY_STEP = 10_000;
const TIME_LIMIT_MS = 20 * 60_000;
const FULL = { rounds: '5', seconds: '3' };
const QUICK = { rounds: '1', seconds: '1' };

const SERVERS = ['service', 'bare'] as const;
type ServerName = (typeof SERVERS)[number];
type Servers = Readonly<Record<ServerName, PinnedChild>>;
type Measured = Map<string, Turns<ServerName, LoadFigures>>;

/** The goals by the names of their scenarios. */
const GOALS = new Map<string, Goal>(
  ['list of 100 projects', 'metadata of a document (304)'].map((name) => [
    name,
    { figure: `CPU per request: ${name}`, direction: 'at most', limit: 2.4, unit: '× bare handler' },
  ]),
);

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    /** Option of Node for the service, such as --cpu-prof. */
    'node-option': { type: 'string', multiple: true, default: [] },
    /** Measures only the scenarios whose names contain this text. */
    only: { type: 'string', default: '' },
    'skip-memory': { type: 'boolean', default: false },
    output: { type: 'string' },
  },
});

const defaults = options.quick ? QUICK : FULL;
const rounds = parseCount('rounds', options.rounds ?? defaults.rounds);
const seconds = parsePositive('seconds', options.seconds ?? defaults.seconds);
const watchesMemory = !options.quick && !options['skip-memory'];

async function main(): Promise<void> {
  const start = noteStart();
  pinSelf(LOAD_CORE);
  const interrupted = rejectOnInterruption(TIME_LIMIT_MS);
  const workspace = await createWorkspace();
  const children: PinnedChild[] = [];
  try {
    const result = await Promise.race([run(workspace, children), interrupted]);
    const isLong = rounds >= Number(FULL.rounds) && seconds >= Number(FULL.seconds);
    const publication = {
      name: 'kb',
      title: 'Knowledge base',
      parameters: `${CONNECTIONS} connections, ${rounds} rounds, ${seconds} s per turn, medians`,
      versions: { PostgreSQL: workspace.postgresVersion },
      isComplete: isLong && watchesMemory && options.only === '',
      output: options.output,
    };
    await publish(publication, start, result);
  } finally {
    await Promise.all(children.map((child) => child.stop()));
    await workspace.dispose();
  }
}

async function run(workspace: Workspace, children: PinnedChild[]): Promise<Result> {
  const start = async (args: string[]) => {
    const child = await PinnedChild.startNode({ args, core: SERVER_CORE, env: serviceSettings(workspace) });
    children.push(child);
    return child;
  };
  const service = await start([...options['node-option'], 'dist/main.js']);
  const bare = await start(['--import', 'tsx', 'bench/bare-kb.ts']);
  const scenarios = await prepareKnowledgeBase(service);
  const selected = scenarios.filter(({ name }) => name.includes(options.only));
  if (selected.length === 0) throw new Error(`--only matches no scenario: ${options.only}`);
  const measured = await measureAll(selected, { service, bare });
  const sections = [requestSection(measured)];
  if (watchesMemory) sections.push(await watchMemory(scenarios, service));
  return { goals: judgeAll(measured), sections };
}

/** The two servers take turns in each round of a scenario. */
async function measureAll(scenarios: readonly Scenario[], servers: Servers): Promise<Measured> {
  const measured: Measured = new Map();
  for (const { name, status, next } of scenarios) {
    console.log(`measuring: ${name}`);
    await assertSameResponses(next, status, [servers.service, servers.bare]);
    const load = (server: ServerName, duration: number) =>
      measureLoad(servers[server], { status, next, connections: CONNECTIONS, until: { seconds: duration } });
    for (const server of SERVERS) {
      await tolerate(`warm-up of ${server}`, () => load(server, WARM_UP_SECONDS));
    }
    measured.set(name, await takeTurns(rounds, SERVERS, (server) => load(server, seconds)));
  }
  return measured;
}

const cpu = ({ cpuPerRequestUs }: LoadFigures) => cpuPerRequestUs;

function judgeAll(measured: Measured): JudgedGoal[] {
  return [...measured].flatMap(
    ([
      name,
      {
        rounds: { service, bare },
      },
    ]) => {
      const goal = GOALS.get(name);
      return goal ? [judgeRounds(goal, medianRatio(service, bare, cpu), service, [bare])] : [];
    },
  );
}

function requestSection(measured: Measured): Section {
  const rows = [...measured].flatMap(([name, turns]) =>
    SERVERS.map((server) => {
      const figures = turns.rounds[server];
      const isService = server === 'service';
      const ratio = isService ? formatNumber(medianRatio(figures, turns.rounds.bare, cpu), 2) : '';
      return [
        isService ? name : '',
        server,
        formatNumber(medianOfRounds(figures, ({ requestsPerSecond }) => requestsPerSecond)),
        formatNumber(
          medianOfRounds(figures, ({ p50Ms }) => p50Ms),
          2,
        ),
        formatNumber(
          medianOfRounds(figures, ({ p99Ms }) => p99Ms),
          2,
        ),
        formatNumber(medianOfRounds(figures, cpu)),
        ratio,
        describeRounds(figures),
      ];
    }),
  );
  const columns = ['request', 'server', 'requests/s', 'p50 ms', 'p99 ms', 'CPU µs per request', 'CPU ratio'];
  return { title: 'Requests', text: markdownTable([...columns, 'successful rounds'], rows, 2) };
}

/** Sends all kinds of requests in turns and samples the memory of the service after garbage collections. */
async function watchMemory(scenarios: readonly Scenario[], service: PinnedChild): Promise<Section> {
  console.log(`measuring the memory over ${MEMORY_REQUESTS} requests`);
  const rows: string[][] = [];
  for (let sent = 0; sent <= MEMORY_REQUESTS; sent += MEMORY_STEP) {
    for (const { name, status, next } of scenarios) {
      const until = { requests: MEMORY_STEP / scenarios.length };
      const load = { status, next, connections: CONNECTIONS, until };
      await tolerate(`memory: ${name}`, () => measureLoad(service, load));
    }
    const { rss, heapUsed, external } = await service.memory();
    rows.push([
      formatNumber(sent),
      ...[rss, heapUsed, external].map((bytes) => formatNumber(bytes / 2 ** 20, 1)),
    ]);
  }
  const columns = ['requests after the warm-up', 'RSS MiB', 'heap MiB', 'external MiB'];
  const title = 'Memory of the service after garbage collections';
  return { title, text: markdownTable(columns, rows, 0) };
}

await main();
