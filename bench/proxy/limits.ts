import { join } from 'node:path';
import { PinnedChild } from '../support/child.js';
import { judgeRounds } from '../support/goals.js';
import { create, newSession, put, serviceSettings } from '../support/session.js';
import { formatNumber } from '../support/table.js';
import { medianOfRounds, medianRatio, takeTurns } from '../support/turns.js';
import { createWorkspace } from '../support/workspace.js';
import { measureCpu } from './cpu.js';
import { turnsSection } from './figures.js';
import type { Figure } from './figures.js';
import type { Route } from './gateway.js';
import { GOALS } from './goals.js';
import { GATEWAY_CORE } from './lab.js';
import type { Lab } from './lab.js';
import { createRoute, startService, UNLIMITED } from './mintkeep.js';
import { CONNECTIONS, runWrk } from './wrk.js';

/** No run reaches these limits. */
const LIMITS = {
  requests_per_minute: 1_000_000,
  tokens_per_minute: 1_000_000_000,
  budget: { usd: 1_000_000_000, period: 'month' },
  models: ['other-*', 'plain'],
};
const RULES = [{ model: 'gpt-*' }, { model: 'plain', as: 'a-model-of-the-upstream' }];
const PRICES = [
  { model: 'gpt-*', input: 1, output: 1 },
  { model: 'a-model-*', input: 0.25, output: 2, cached_input: 0.025 },
];
const WARM_UP_SECONDS = 4;
const WARM_UP_TURNS = 3;

interface Subject {
  readonly child: PinnedChild;
  readonly route: Route;
}

/** CPU time of requests with a model rule, limits of all three levels and costs, beside requests without any of them. */
export const limits: Figure = {
  goals: [GOALS.limits, GOALS.withoutLimits],
  async measure(lab, { rounds, seconds, baseline }) {
    const dispose: (() => Promise<void>)[] = [];
    try {
      const subjects = await startSubjects(lab, baseline, dispose);
      const names = Object.keys(subjects);
      const load = (name: string, duration: number) =>
        runWrk(subjects[name]!.route, duration, lab.workspace.dataDir);
      for (const name of names) for (let i = 0; i < WARM_UP_TURNS; i++) await load(name, WARM_UP_SECONDS);
      const turns = await takeTurns(rounds, names, async (name) => {
        const [report, cpuSeconds] = await measureCpu(subjects[name]!.child, () => load(name, seconds));
        return (cpuSeconds / report.requests) * 1e6;
      });
      const { without = [], with: limited = [], before = [] } = turns.rounds;
      const cpu = (us: number) => us;
      return {
        goals: [
          judgeRounds(GOALS.limits, medianRatio(limited, without, cpu), limited, [without]),
          judgeRounds(GOALS.withoutLimits, medianRatio(without, before, cpu), without, [before]),
        ],
        section: turnsSection(
          `Limits: 1 KiB each way, ${CONNECTIONS} connections`,
          ['CPU µs per request'],
          turns,
          (name) => [formatNumber(medianOfRounds(turns.rounds[name]!, cpu), 1)],
        ),
      };
    } finally {
      for (const end of dispose.toReversed()) await end();
    }
  },
};

/** Each subject is a process of its own, so that no subject profits from the compiled code of another. */
async function startSubjects(
  lab: Lab,
  baseline: string | undefined,
  dispose: (() => Promise<void>)[],
): Promise<Record<string, Subject>> {
  const { workspace, mocks } = lab;
  const upstreamPort = mocks.ports.plain;
  const start = async () => {
    const child = await startService(workspace, { core: GATEWAY_CORE });
    dispose.push(() => child.stop());
    return child;
  };
  const [without, limited] = [await start(), await start()];
  const subjects: Record<string, Subject> = {
    without: { child: without, route: await createRoute(without.port, upstreamPort, 'no-limits') },
    with: { child: limited, route: await createLimitedRoute(limited.port, upstreamPort) },
  };
  if (baseline !== undefined) {
    const old = await createWorkspace();
    dispose.push(() => old.dispose());
    const env = { ...serviceSettings(old), ...UNLIMITED };
    const child = await PinnedChild.startNode({
      args: [join(baseline, 'dist/main.js')],
      env,
      core: GATEWAY_CORE,
    });
    dispose.push(() => child.stop());
    subjects.before = { child, route: await createRoute(child.port, upstreamPort, 'before') };
  }
  return subjects;
}

async function createLimitedRoute(port: number, upstreamPort: number): Promise<Route> {
  const session = await newSession('limits');
  await create(port, session, 'upstreams', {
    name: 'mock',
    base_url: `http://127.0.0.1:${upstreamPort}/v1`,
    api_key: 'sk-the-key-of-the-upstream',
    models: RULES,
  });
  await put(port, session, 'limits', { organization: LIMITS, member: LIMITS });
  await put(port, session, 'prices', { prices: PRICES });
  const key = (await (await create(port, session, 'keys', { limits: LIMITS })).json()) as { api_key: string };
  return { port, headers: { Authorization: `Bearer ${key.api_key}` } };
}
