import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { startTcpProxy } from '../../test/support/tcp-proxy.js';
import type { PinnedChild } from '../support/child.js';
import { createWorkspace } from '../support/workspace.js';
import type { Workspace } from '../support/workspace.js';
import { CountedLoad } from './counted-load.js';
import type { Figures } from './goals.js';
import { GATEWAY_CORE } from './lab.js';
import type { Lab } from './lab.js';
import { routeTo, startService } from './mintkeep.js';
import type { Options } from './options.js';

const LOAD_SECONDS = 50;
const OUTAGE_BEGINS_AT = 0.25;
const OUTAGE_SECONDS = 20;
/** While the database is away and its records wait. */
const CRASH_AFTER_SECONDS = 15;
const RESTART_EVERY_MS = 500;
const WRITTEN_WITHIN_MS = 60_000;
const QUIET_MS = 5_000;

/** Whether every completed request is on record, and once, whatever happens to the database and the service. */
export async function measureRecords(lab: Lab, { requests }: Options): Promise<Figures> {
  const workspace = await createWorkspace();
  const proxy = await startTcpProxy(workspace.databaseUrl);
  const proxied = { ...workspace, databaseUrl: proxy.url };
  const first = await startService(proxied, { core: GATEWAY_CORE });
  let service = first;
  try {
    const route = await routeTo(first.port, lab.mocks.ports.plain, 'records');
    const load = new CountedLoad(route, requests, requests / LOAD_SECONDS);
    const loaded = load.run();
    loaded.catch(() => undefined); // told below
    await load.reached(OUTAGE_BEGINS_AT);
    proxy.goAway();
    await workspace.stopDatabase();
    const outage = delay(OUTAGE_SECONDS * 1_000).then(async () =>
      proxy.comeBack(await workspace.startDatabase()),
    );
    await delay(CRASH_AFTER_SECONDS * 1_000);
    await first.kill();
    service = await startUntilItStays(proxied, first.port);
    await outage;
    await loaded;
    const recorded = await writtenRecords(proxy.url, load.completed.size);
    return report(load, recorded);
  } finally {
    await service.stop();
    await proxy.stop();
    await workspace.dispose();
  }
}

/** As whatever runs a service starts it again when it ends. */
async function startUntilItStays(workspace: Workspace, port: number): Promise<PinnedChild> {
  for (;;) {
    try {
      return await startService(workspace, { core: GATEWAY_CORE, port });
    } catch {
      await delay(RESTART_EVERY_MS);
    }
  }
}

/** The request ids on record, when no more come. */
async function writtenRecords(databaseUrl: string, expected: number): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const deadline = performance.now() + WRITTEN_WITHIN_MS;
    let count = -1;
    for (let before = -2; performance.now() < deadline && !(count === before && count >= expected);) {
      before = count;
      await delay(QUIET_MS);
      const { rows } = await client.query<{ n: number }>('SELECT count(*)::int AS n FROM usage_records');
      count = rows[0]!.n;
    }
    const { rows } = await client.query<{ id: string }>('SELECT request_id AS id FROM usage_records');
    return rows.map(({ id }) => id);
  } finally {
    await client.end();
  }
}

function report({ completed, failed, refused, hasSent }: CountedLoad, recorded: readonly string[]): Figures {
  const distinct = new Set(recorded);
  const missing = [...completed].filter((id) => !distinct.has(id)).length;
  const twice = recorded.length - distinct.size;
  const strange = [...distinct].filter((id) => !hasSent(id)).length;
  const unanswered = [...distinct].filter((id) => hasSent(id) && !completed.has(id)).length;
  return {
    goals: [
      {
        figure: `usage records: PostgreSQL stopped for ${OUTAGE_SECONDS} s, one kill -9`,
        goal: 'exactly the completed requests',
        measured: `${completed.size} completed, ${missing} of them missing, ${twice} twice, ${strange} never sent`,
        met: missing === 0 && twice === 0 && strange === 0 && refused === 0,
      },
    ],
    details:
      `${completed.size} requests completed, ${refused} answered with an error, ${failed} lost in the crash ` +
      `(${unanswered} of which are on record)`,
  };
}
