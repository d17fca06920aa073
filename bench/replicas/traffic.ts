import { setTimeout as delay } from 'node:timers/promises';
import { runLoad } from '../support/load.js';
import { runOpenLoop } from '../support/open-loop.js';
import { startCounters } from './counters.js';
import type { Lab } from './lab.js';
import { MIXES, spreadEvenly } from './mixes.js';
import type { Mix } from './mixes.js';
import type { Options } from './options.js';
import type { ReplicaGroup } from './replica-group.js';

/** Figures of one mix of keys at a fixed rate. */
export interface TrafficFigures {
  /** CPU time of all replicas together. */
  readonly cpuUs: number;
  /** Share of the core that each replica used. */
  readonly corePercent: number;
  readonly databaseCpuUs: number;
  readonly statementsPerSecond: number;
  readonly transactionsPerSecond: number;
  readonly walBytes: number;
  readonly recordBytes: number;
  readonly connections: number;
}

/** Figures of replicas without requests. */
export interface IdleFigures {
  /** Statements of one replica. */
  readonly statementsPerSecond: number;
  readonly transactionsPerSecond: number;
  readonly corePercent: number;
  readonly connections: number;
  /** Share of a core that PostgreSQL used. */
  readonly databasePercent: number;
  readonly walBytesPerSecond: number;
}

const WARM_UP_CONNECTIONS = 16;
/** PostgreSQL counts the transactions of an idle connection at most 10 s late. */
const COUNTING_MS = 11_000;
/** Duration of the load before the measurement: afterwards each replica has shares of all limits. */
const LEAD_IN_SECONDS = 3;
/** Time after which a replica has sent the usage records of its last requests. */
const SETTLING_MS = 500;

/** Lets each replica serve every key, until its code is compiled and its caches are filled. Waits until that is over. */
export async function warmUp({ database, requests }: Lab, group: ReplicaGroup, each: number): Promise<void> {
  const before = await database.recorded();
  for (const port of group.ports) {
    for (const mix of MIXES) {
      let sent = 0;
      await runLoad({
        port,
        connections: WARM_UP_CONNECTIONS,
        next: () => requests[mix][sent++ % requests[mix].length]!,
        status: 200,
        until: { requests: each },
      });
    }
  }
  await database.waitForRecords(before + each * MIXES.length * group.ports.length);
  await delay(COUNTING_MS);
}

/** Measures a load until all of its usage records have been written. */
export async function measureTraffic(
  { database, requests }: Lab,
  group: ReplicaGroup,
  mix: Mix,
  { perSecond, seconds }: Options,
): Promise<TrafficFigures> {
  const targets = spreadEvenly(requests[mix], group.ports);
  const before = await database.recorded();
  const { length: leadIn } = await runOpenLoop({ targets, perSecond, seconds: LEAD_IN_SECONDS });
  const recorded = before + leadIn;
  await database.waitForRecords(recorded);
  const counters = await startCounters(database, group);
  const { length: count } = await runOpenLoop({ targets, perSecond, seconds });
  const connections = await database.connections();
  await delay(SETTLING_MS);
  const during = await counters.read();
  await database.waitForRecords(recorded + count);
  const written = await counters.readDatabase();
  const cpuUs = (during.cpuSeconds / count) * 1e6;
  return {
    cpuUs,
    corePercent: ((cpuUs * perSecond) / 1e6 / group.ports.length) * 100,
    databaseCpuUs: (written.cpuMs / count) * 1e3,
    statementsPerSecond: during.statements / during.seconds,
    transactionsPerSecond: during.transactions / during.seconds,
    walBytes: written.walBytes / count,
    recordBytes: written.recordBytes / count,
    connections: connections / group.ports.length,
  };
}

export async function measureIdle(
  { database }: Lab,
  group: ReplicaGroup,
  seconds: number,
): Promise<IdleFigures> {
  const counters = await startCounters(database, group);
  await delay(seconds * 1_000);
  const during = await counters.read();
  const perReplica = (value: number) => value / during.seconds / group.ports.length;
  return {
    statementsPerSecond: perReplica(during.statements),
    transactionsPerSecond: perReplica(during.transactions),
    corePercent: perReplica(during.cpuSeconds) * 100,
    connections: (await database.connections()) / group.ports.length,
    databasePercent: (during.cpuMs / 1e3 / during.seconds) * 100,
    walBytesPerSecond: during.walBytes / during.seconds,
  };
}
