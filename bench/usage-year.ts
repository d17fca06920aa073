/** Measures how long a year of usage takes to sum up; see README.md. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { PinnedChild } from './support/child.js';
import { interruption } from './support/interruption.js';
import { describeMachine, pinSelf } from './support/machine.js';
import { newSession, serviceSettings } from './support/session.js';
import { median, percentile } from './support/statistics.js';
import { markdownTable, number } from './support/table.js';
import { createWorkspace } from './support/workspace.js';
import type { Workspace } from './support/workspace.js';
import { fillYear } from './usage/year.js';

const SERVER_CORE = 0;
const DATABASE_CORE = 1;
const TIME_LIMIT_MS = 20 * 60_000;
const USER = 'bench';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '10' },
    /** Of model, upstream, key and status, in every hour of the year. */
    combinations: { type: 'string', default: '24' },
  },
});

const YEAR = 'from=2025-01-01&to=2026-01-01';
const QUESTIONS = [
  ...['bucket=month', 'bucket=month&group_by=model', 'bucket=day', 'bucket=day&group_by=model'],
  ...['bucket=day&group_by=model,status', 'bucket=month&model=model-1&group_by=key'],
];

const COLUMNS = ['question', 'database CPU ms', 'median ms', 'slowest ms', 'answer KiB'];

async function main(): Promise<void> {
  pinSelf(DATABASE_CORE);
  const interrupted = interruption(TIME_LIMIT_MS);
  interrupted.catch(() => undefined); // for when it comes before it is waited for
  const workspace = await createWorkspace();
  let service: PinnedChild | undefined;
  try {
    const env = serviceSettings(workspace);
    service = await PinnedChild.startNode({ args: ['dist/main.js'], core: SERVER_CORE, env });
    await Promise.race([measureAll(workspace, service), interrupted]);
  } finally {
    await service?.stop();
    await workspace.dispose();
  }
}

async function measureAll(workspace: Workspace, { port }: PinnedChild): Promise<void> {
  const client = new pg.Client({ connectionString: workspace.databaseUrl, options: '-c timezone=UTC' });
  await client.connect();
  const filled = fillYear(client, USER, Number(options.combinations));
  const rows = await filled.finally(() => client.end());
  const session = await newSession(USER);
  const table: string[][] = [];
  for (const question of QUESTIONS) {
    const times: number[] = [];
    let bytes = 0;
    await ask(port, session, question);
    const cpuBefore = databaseCpuMs(workspace);
    for (let round = 0; round < Number(options.rounds); round++) {
      const start = performance.now();
      bytes = (await ask(port, session, question)).length;
      times.push(performance.now() - start);
    }
    const cpu = (databaseCpuMs(workspace) - cpuBefore) / times.length;
    const slowest = percentile(Float64Array.from(times).sort(), 1);
    const figures = [cpu, median(times), slowest, bytes / 1024].map((figure) => number(figure));
    table.push([`\`${question}\``, ...figures]);
  }
  console.log(`\n${describeMachine()}, PostgreSQL ${workspace.postgresVersion}`);
  console.log(`${number(rows)} roll-ups, ${options.combinations} combinations an hour\n`);
  console.log(markdownTable(COLUMNS, table));
}

/** CPU time that the connections of PostgreSQL have used so far. */
function databaseCpuMs({ dataDir }: Workspace): number {
  const [postmaster = ''] = readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n');
  const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8').trim().split(' ');
  const nanoseconds = children.map((pid) =>
    Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]),
  );
  return nanoseconds.reduce((sum, each) => sum + each, 0) / 1e6;
}

/** @throws Error when the year is not all there */
async function ask(port: number, session: string, question: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/me/usage?${YEAR}&${question}`, {
    headers: { Authorization: `Bearer ${session}` },
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${question}: ${response.status} ${text}`);
  const year = 365 * 86_400 * 1_000;
  const { requests } = (JSON.parse(text) as { totals: { requests: number } }).totals;
  const all = question.includes('model=model') || Math.abs(requests - year) < year / 1_000;
  if (response.status !== 200 || !all)
    throw new Error(`${question}: ${response.status}, ${requests} requests`);
  return text;
}

await main();
