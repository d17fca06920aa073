/** Measures the sums over a year of usage; see README.md. */
import { parseArgs } from 'node:util';
import pg from 'pg';
import { PinnedChild } from './support/child.js';
import { databaseCpuMs } from './support/database-cpu.js';
import { rejectOnInterruption } from './support/interruption.js';
import { pinSelf } from './support/machine.js';
import { parseCount } from './support/options.js';
import { noteStart, publish } from './support/results.js';
import type { Result } from './support/results.js';
import { newSession, serviceSettings } from './support/session.js';
import { median, percentile } from './support/statistics.js';
import { formatNumber, markdownTable } from './support/table.js';
import { createWorkspace } from './support/workspace.js';
import type { Workspace } from './support/workspace.js';
import { fillYear } from './usage/year.js';

const SERVER_CORE = 0;
const DATABASE_CORE = 1;
const TIME_LIMIT_MS = 20 * 60_000;
const USER = 'bench';
const FULL = { rounds: '10', combinations: '24' };
const QUICK = { rounds: '2', combinations: '12' };

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    /** Combinations of model, upstream, key and status in every hour of the year. */
    combinations: { type: 'string' },
    output: { type: 'string' },
  },
});

const defaults = options.quick ? QUICK : FULL;
const rounds = parseCount('rounds', options.rounds ?? defaults.rounds);
const combinations = parseCount('combinations', options.combinations ?? defaults.combinations);

const YEAR = 'from=2025-01-01&to=2026-01-01';
const YEAR_SECONDS = 365 * 86_400;
const QUERIES = [
  'bucket=month',
  'bucket=month&group_by=model',
  'bucket=day',
  'bucket=day&group_by=model',
  'bucket=day&group_by=model,status',
  'bucket=month&model=model-1&group_by=key',
];

const COLUMNS = ['query', 'database CPU ms', 'median ms', 'slowest ms', 'response KiB'];

async function main(): Promise<void> {
  const start = noteStart();
  pinSelf(DATABASE_CORE);
  const interrupted = rejectOnInterruption(TIME_LIMIT_MS);
  const workspace = await createWorkspace();
  let service: PinnedChild | undefined;
  try {
    const env = serviceSettings(workspace);
    service = await PinnedChild.startNode({ args: ['dist/main.js'], core: SERVER_CORE, env });
    const result = await Promise.race([measureAll(workspace, service), interrupted]);
    const publication = {
      name: 'usage',
      title: 'A year of usage',
      parameters: `${rounds} rounds, ${combinations} combinations per hour`,
      versions: { PostgreSQL: workspace.postgresVersion },
      isComplete: rounds >= Number(FULL.rounds) && combinations >= Number(FULL.combinations),
      output: options.output,
    };
    await publish(publication, start, result);
  } finally {
    await service?.stop();
    await workspace.dispose();
  }
}

async function measureAll(workspace: Workspace, { port }: PinnedChild): Promise<Result> {
  const client = new pg.Client({ connectionString: workspace.databaseUrl, options: '-c timezone=UTC' });
  await client.connect();
  const filled = fillYear(client, USER, combinations);
  const rollups = await filled.finally(() => client.end());
  const session = await newSession(USER);
  const table: string[][] = [];
  for (const query of QUERIES) {
    console.log(`measuring: ${query}`);
    table.push([`\`${query}\``, ...(await measureQuery(workspace, () => send(port, session, query)))]);
  }
  const title = `GET /me/usage over ${formatNumber(rollups)} roll-ups`;
  return { goals: [], sections: [{ title, text: markdownTable(COLUMNS, table) }] };
}

async function measureQuery(workspace: Workspace, query: () => Promise<string>): Promise<string[]> {
  const times: number[] = [];
  let bytes = (await query()).length; // fills the caches of PostgreSQL
  const cpuBefore = databaseCpuMs(workspace);
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    bytes = (await query()).length;
    times.push(performance.now() - start);
  }
  const cpu = (databaseCpuMs(workspace) - cpuBefore) / times.length;
  const slowest = percentile(Float64Array.from(times).sort(), 1);
  return [cpu, median(times), slowest, bytes / 1_024].map((figure) => formatNumber(figure));
}

/** @throws Error if the response is not 200, or does not count all requests of the year */
async function send(port: number, session: string, query: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/me/usage?${YEAR}&${query}`, {
    headers: { Authorization: `Bearer ${session}` },
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${query}: ${response.status} ${text}`);
  const { requests } = (JSON.parse(text) as { totals: { requests: number } }).totals;
  const year = YEAR_SECONDS * 1_000;
  const isComplete = query.includes('model=model') || Math.abs(requests - year) < year / 1_000;
  if (!isComplete) throw new Error(`${query}: ${requests} of ${year} requests`);
  return text;
}

await main();
