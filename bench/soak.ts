/**
 * Mixed traffic against two replicas while PostgreSQL, the object store and the replicas themselves fail in turns;
 * at the end nothing may be lost, doubled or crossed. `--minutes`: how long, 20 when left out.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { checkBodies, checkDocuments } from './soak/check-documents.js';
import { checkDeviceKeys, checkUsage } from './soak/check-usage.js';
import { Client } from './soak/client.js';
import { withDatabase } from './soak/database.js';
import type { Query } from './soak/database.js';
import { Disturbances } from './soak/disturbances.js';
import { KeyUser } from './soak/keys.js';
import { openLab } from './soak/lab.js';
import type { Lab } from './soak/lab.js';
import { Ledger } from './soak/ledger.js';
import { MemoryWatch } from './soak/memory-watch.js';
import { createOwners } from './soak/owners.js';
import { report } from './soak/report.js';
import { Timeline } from './soak/timeline.js';
import { Traffic } from './soak/traffic.js';
import { UsageBook } from './soak/usage-book.js';
import { interruption } from './support/interruption.js';

/** Beyond the traffic: for the start, the last disturbance and the checks. */
const SPARE_MINUTES = 15;
/** For what is late by then to arrive. */
const SETTLING_MS = 10_000;

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { minutes: { type: 'string', default: '20' } } });
  const minutes = Number(values.minutes);
  if (!(minutes > 0)) throw new Error(`--minutes takes a number above 0, not ${values.minutes}`);
  const interrupted = interruption((minutes + SPARE_MINUTES) * 60_000);
  interrupted.catch(() => undefined); // for when it comes before it is waited for
  const lab = await openLab();
  try {
    const ledger = await Promise.race([soak(lab, minutes), interrupted]);
    if (ledger.findings.length > 0) process.exitCode = 1;
  } finally {
    await lab.dispose();
  }
}

async function soak(lab: Lab, minutes: number): Promise<Ledger> {
  const [ledger, timeline, book] = [new Ledger(), new Timeline(), new UsageBook()];
  const client = new Client(lab.replicas, timeline, ledger);
  const keys = new KeyUser(client, book);
  const traffic = await Traffic.prepare(keys, await createOwners(client, lab.provider.baseUrl));
  const memory = new MemoryWatch(lab.replicas);
  const running = [traffic.run(), memory.run()];
  await new Disturbances(lab, timeline, ledger).run(minutes);
  traffic.end();
  memory.end();
  await Promise.all(running);
  await pause(SETTLING_MS);
  await check(lab, keys, book, traffic);
  const { postgresVersion } = lab.workspace;
  const failedStarts = lab.replicas.reduce((sum, replica) => sum + replica.failedStarts, 0);
  const run = { failedStarts, minutes, actors: traffic.size, postgresVersion, memory: memory.judge(ledger) };
  console.log(`\n${report(run, ledger, timeline)}`);
  return ledger;
}

/** All of it, whatever one of them meets. */
async function check({ databaseUrl, bodies }: Lab, keys: KeyUser, book: UsageBook, { writers }: Traffic) {
  const { client, revoked } = keys;
  const { ledger } = client;
  const checks: Record<string, (query: Query) => Promise<unknown>> = {
    'revoked keys': async () => {
      for (const key of revoked) await keys.expectRefused(key);
    },
    documents: () => checkDocuments(client, writers),
    bodies: (query) => checkBodies(client, bodies, query),
    usage: (query) => checkUsage(ledger, book, query),
    'device keys': (query) => checkDeviceKeys(ledger, query),
  };
  await withDatabase(databaseUrl, async (query) => {
    for (const [name, run] of Object.entries(checks)) {
      await run(query).catch((error: Error) => ledger.find(`the check of ${name} failed: ${error.stack}`));
    }
  });
}

await main();
