import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { startTcpProxy } from '../../test/support/tcp-proxy.js';
import type { PinnedChild } from '../support/child.js';
import { judge } from '../support/goals.js';
import { formatNumber, markdownTable } from '../support/table.js';
import { createWorkspace } from '../support/workspace.js';
import type { Workspace } from '../support/workspace.js';
import { CountedLoad } from './counted-load.js';
import type { Figure, Measured } from './figures.js';
import { GOALS } from './goals.js';
import { GATEWAY_CORE } from './lab.js';
import { createRoute, startService } from './mintkeep.js';

const LOAD_SECONDS = 50;
const OUTAGE_BEGINS_AT = 0.25;
const OUTAGE_SECONDS = 20;
/** The crash happens during the outage, while records wait for the database. */
const CRASH_AFTER_SECONDS = 15;
const RESTART_EVERY_MS = 500;
const RESTART_LIMIT_MS = 120_000;
const WRITTEN_WITHIN_MS = 60_000;
const POLL_MS = 5_000;

/** Completeness of the usage records: one for every completed request, in spite of an outage and a crash. */
export const records: Figure = {
  goals: [GOALS.lostRecords],
  async measure(lab, { requests }) {
    const workspace = await createWorkspace();
    const proxy = await startTcpProxy(workspace.databaseUrl);
    const proxied = { ...workspace, databaseUrl: proxy.url };
    const first = await startService(proxied, { core: GATEWAY_CORE });
    let service = first;
    try {
      const route = await createRoute(first.port, lab.mocks.ports.plain, 'records');
      const load = new CountedLoad(route, requests, requests / LOAD_SECONDS);
      const loaded = load.run();
      loaded.catch(() => undefined); // awaited below
      await load.reached(OUTAGE_BEGINS_AT);
      proxy.goAway();
      await workspace.stopDatabase();
      const outage = delay(OUTAGE_SECONDS * 1_000).then(async () =>
        proxy.comeBack(await workspace.startDatabase()),
      );
      outage.catch(() => undefined); // awaited below
      await delay(CRASH_AFTER_SECONDS * 1_000);
      await first.kill();
      service = await restart(proxied, first.port);
      await outage;
      await loaded;
      return report(load, await writtenRecords(proxy.url, load.completed.size));
    } finally {
      await service.stop();
      await proxy.stop();
      await workspace.dispose();
    }
  },
};

/** Starts the service until a start succeeds, as an orchestrator does. */
async function restart(workspace: Workspace, port: number): Promise<PinnedChild> {
  const deadline = performance.now() + RESTART_LIMIT_MS;
  for (;;) {
    try {
      return await startService(workspace, { core: GATEWAY_CORE, port });
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await delay(RESTART_EVERY_MS);
    }
  }
}

/** The recorded request ids, as soon as their number no longer grows. */
async function writtenRecords(databaseUrl: string, expected: number): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const deadline = performance.now() + WRITTEN_WITHIN_MS;
    let count = -1;
    for (let before = -2; performance.now() < deadline && !(count === before && count >= expected);) {
      before = count;
      await delay(POLL_MS);
      const { rows } = await client.query<{ n: number }>('SELECT count(*)::int AS n FROM usage_records');
      count = rows[0]!.n;
    }
    const { rows } = await client.query<{ id: string }>('SELECT request_id AS id FROM usage_records');
    return rows.map(({ id }) => id);
  } finally {
    await client.end();
  }
}

function report(
  { completed, failed, rejected, hasSent }: CountedLoad,
  recorded: readonly string[],
): Measured {
  const distinct = new Set(recorded);
  const missing = [...completed].filter((id) => !distinct.has(id)).length;
  const duplicates = recorded.length - distinct.size;
  const unknown = [...distinct].filter((id) => !hasSent(id)).length;
  const interrupted = [...distinct].filter((id) => hasSent(id) && !completed.has(id)).length;
  const rows = [
    ['completed requests', completed.size],
    ['requests rejected with an error', rejected],
    ['requests interrupted by the crash', failed],
    ['records of interrupted requests', interrupted],
    ['completed requests without a record', missing],
    ['duplicate records', duplicates],
    ['records of unknown requests', unknown],
  ] as const;
  const table = markdownTable(
    ['', 'number'],
    rows.map(([name, count]) => [name, formatNumber(count)]),
  );
  const title = `Usage records: PostgreSQL stopped for ${OUTAGE_SECONDS} s, one kill -9`;
  // A rejected request counts as well: the outage must not be visible to clients.
  return {
    goals: [judge(GOALS.lostRecords, missing + duplicates + unknown + rejected)],
    section: { title, text: table },
  };
}
