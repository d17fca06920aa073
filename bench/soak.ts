/**
 * Runs mixed traffic against two replicas while PostgreSQL, the object store and the replicas fail in turns; see
 * README.md. The exit code is 1 if data were lost, duplicated or mixed up.
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
import { createReport } from './soak/report.js';
import { Timeline } from './soak/timeline.js';
import { Traffic } from './soak/traffic.js';
import { UsageBook } from './soak/usage-book.js';
import { rejectOnInterruption } from './support/interruption.js';
import { parsePositive } from './support/options.js';
import { noteStart, publish } from './support/results.js';
import type { Result } from './support/results.js';

/** Time for the start, the last disturbance and the checks, in addition to the traffic. */
const SPARE_MINUTES = 15;
/** Time for late effects, such as stalled writes, before the checks. */
const SETTLING_MS = 10_000;

const FULL_MINUTES = '20';
/** Duration of one turn of every disturbance. */
const QUICK_MINUTES = '3';

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      minutes: { type: 'string' },
      output: { type: 'string' },
    },
  });
  const defaultMinutes = values.quick ? QUICK_MINUTES : FULL_MINUTES;
  const minutes = parsePositive('minutes', values.minutes ?? defaultMinutes);
  const start = noteStart();
  const interrupted = rejectOnInterruption((minutes + SPARE_MINUTES) * 60_000);
  const lab = await openLab();
  try {
    const { result, actors } = await Promise.race([soak(lab, minutes), interrupted]);
    const publication = {
      name: 'soak',
      title: 'Soak',
      parameters: `${minutes} minutes, ${actors} actors`,
      versions: { PostgreSQL: lab.workspace.postgresVersion },
      isComplete: minutes >= Number(FULL_MINUTES),
      output: values.output,
    };
    await publish(publication, start, result);
    if (result.goals.some(({ verdict }) => verdict !== 'met')) process.exitCode = 1;
  } finally {
    await lab.dispose();
  }
}

async function soak(lab: Lab, minutes: number): Promise<{ result: Result; actors: number }> {
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
  const failedStarts = lab.replicas.reduce((sum, replica) => sum + replica.failedStarts, 0);
  const run = { failedStarts, memory: memory.judge(ledger) };
  return { result: createReport(run, ledger, timeline), actors: traffic.size };
}

/** Runs all checks, even if one of them fails. */
async function check({ databaseUrl, bodies }: Lab, keys: KeyUser, book: UsageBook, { writers }: Traffic) {
  const { client, revoked } = keys;
  const { ledger } = client;
  const checks: Record<string, (query: Query) => Promise<unknown>> = {
    'revoked keys': async () => {
      for (const key of revoked) await keys.expectRejected(key);
    },
    documents: () => checkDocuments(client, writers),
    bodies: (query) => checkBodies(client, bodies, query),
    usage: (query) => checkUsage(ledger, book, query),
    'device keys': (query) => checkDeviceKeys(ledger, query),
  };
  await withDatabase(databaseUrl, async (query) => {
    for (const [name, run] of Object.entries(checks)) {
      await run(query).catch((error: Error) =>
        ledger.addFinding(`the check of ${name} failed: ${error.stack}`),
      );
    }
  });
}

await main();
