/** Measures the dashboard in Chromium; see README.md. */
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { launchBrowser } from '../test/support/browser.js';
import { countViolations, VIOLATION_COLUMNS } from './dashboard/accessibility.js';
import { createContent } from './dashboard/content.js';
import type { Content } from './dashboard/content.js';
import { filterTimes, scroll, typingTimes } from './dashboard/interactions.js';
import { firstLoadBytes, slowLoadMs, THROTTLING } from './dashboard/loads.js';
import { Windows } from './dashboard/windows.js';
import { PinnedChild } from './support/child.js';
import { judge } from './support/goals.js';
import type { Goal, JudgedGoal } from './support/goals.js';
import { rejectOnInterruption } from './support/interruption.js';
import { parseCount } from './support/options.js';
import { noteStart, publish } from './support/results.js';
import type { Result } from './support/results.js';
import { serviceSettings } from './support/session.js';
import { median, percentile } from './support/statistics.js';
import { formatNumber, markdownTable } from './support/table.js';
import { createWorkspace } from './support/workspace.js';

const SERVER_CORE = 0;
const TIME_LIMIT_MS = 20 * 60_000;
const FULL = { rounds: '5', documents: '5000' };
const QUICK = { rounds: '1', documents: '500' };
const FILTERS = ['12', '345', '0', '49'];
const TEXT =
  'The quick brown fox jumps over the lazy dog, and writes about it in a very long document. '.repeat(2);

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    /** Documents of the long list. */
    documents: { type: 'string' },
    output: { type: 'string' },
  },
});
const defaults = options.quick ? QUICK : FULL;
const rounds = parseCount('rounds', options.rounds ?? defaults.rounds);
const documents = parseCount('documents', options.documents ?? defaults.documents);

const goal = (figure: string, limit: number, unit: string): Goal => ({
  figure,
  direction: 'at most',
  limit,
  unit,
});
const GOALS = {
  signedOut: goal('scripts and styles of the first load, signed out (brotli)', 250, 'KiB'),
  signedIn: goal('scripts and styles of the first load, signed in (brotli)', 250, 'KiB'),
  projects: goal(`project list usable, ${THROTTLING} × slower processor, median`, 1_500, 'ms'),
  document: goal(`document of 100 KiB usable, ${THROTTLING} × slower processor, median`, 2_500, 'ms'),
  filter: goal(`filter of ${formatNumber(documents)} documents, slowest key press`, 50, 'ms'),
  blank: goal(
    `frames without rows while scrolling through ${formatNumber(documents)} documents`,
    0,
    'frames',
  ),
  typing: goal('typing in 100 KiB of markdown, p95 of key presses', 50, 'ms'),
};

async function main(): Promise<void> {
  const start = noteStart();
  const interrupted = rejectOnInterruption(TIME_LIMIT_MS);
  const workspace = await createWorkspace();
  const browser = await launchBrowser();
  let service: PinnedChild | undefined;
  try {
    const env = { ...serviceSettings(workspace), SESSION_JWT_SECRET: '' }; // the development sign-in
    service = await PinnedChild.startNode({ args: ['dist/main.js'], core: SERVER_CORE, env });
    const session = await signIn(service.port);
    const content = await createContent(service.port, session, documents);
    const windows = new Windows(browser, `http://127.0.0.1:${service.port}`, session);
    const result = await Promise.race([measureAll(windows, content), interrupted]);
    const publication = {
      name: 'dashboard',
      title: 'The dashboard',
      parameters: `${rounds} rounds, ${formatNumber(documents)} documents in the long list`,
      versions: { Chromium: browser.version() },
      isComplete: rounds >= Number(FULL.rounds) && documents >= Number(FULL.documents),
      output: options.output,
    };
    await publish(publication, start, result);
  } finally {
    await browser.close();
    await service?.stop();
    await workspace.dispose();
  }
}

async function measureAll(windows: Windows, content: Content): Promise<Result> {
  const loads = await measureLoads(windows, content);
  console.log('measuring: key presses and scrolling');
  const filtering = await filterTimes(windows, content.manyDocuments, FILTERS);
  const { seen, blank } = await scroll(windows, content.manyDocuments);
  const typing = await typingTimes(windows, content.longDocument, TEXT);
  console.log('measuring: accessibility');
  const violations = await countViolations(windows, content);
  const goals = [
    ...loads.goals,
    judge(GOALS.filter, percentile(sorted(filtering), 1)),
    judge(GOALS.blank, blank),
    judge(GOALS.typing, percentile(sorted(typing), 0.95)),
  ];
  const rows = [
    ...loads.rows,
    ['filter, ms from key press to painted result', ...describe(filtering)],
    ['typing, ms from key press to painted frame', ...describe(typing)],
    ['scrolling, frames', '–', '–', '–', String(seen)],
  ];
  return {
    goals,
    sections: [
      { title: 'Figures', text: markdownTable(['figure', 'median', 'p95', 'slowest', 'number'], rows) },
      { title: 'Violations that axe finds, both themes', text: markdownTable(VIOLATION_COLUMNS, violations) },
    ],
  };
}

async function measureLoads(
  windows: Windows,
  content: Content,
): Promise<{ goals: JudgedGoal[]; rows: string[][] }> {
  console.log('measuring: loads');
  const signedOut = (await firstLoadBytes(windows, 'signed out')) / 1_024;
  const signedIn = (await firstLoadBytes(windows, 'signed in')) / 1_024;
  const projects = await repeat(() => slowLoadMs(windows, content.projects, hasProjects));
  const document = await repeat(() => slowLoadMs(windows, content.longDocument, hasEditor));
  return {
    goals: [
      judge(GOALS.signedOut, signedOut),
      judge(GOALS.signedIn, signedIn),
      judge(GOALS.projects, median(projects)),
      judge(GOALS.document, median(document)),
    ],
    rows: [
      ['project list, ms until usable', ...describe(projects)],
      ['document of 100 KiB, ms until usable', ...describe(document)],
    ],
  };
}

const hasProjects = (page: Page) => page.getByRole('link', { name: /Project 20/ }).waitFor();
const hasEditor = (page: Page) => page.locator('.cm-content .cm-line').first().waitFor();

async function repeat(measure: () => Promise<number>): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) times.push(await measure());
  return times;
}

function describe(times: readonly number[]): string[] {
  const ascending = sorted(times);
  const figures = [0.5, 0.95, 1].map((share) => formatNumber(percentile(ascending, share)));
  return [...figures, String(times.length)];
}

function sorted(times: readonly number[]): Float64Array {
  return Float64Array.from(times).sort();
}

async function signIn(port: number): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/dev/sign-in`, {
    method: 'POST',
    body: JSON.stringify({ email: 'bench@example.com' }),
  });
  return ((await response.json()) as { token: string }).token;
}

await main();
