import type { DatabaseObserver, Reading } from './database.js';
import type { ReplicaGroup } from './replica-group.js';

/** Changes since the start of the counters. */
interface Changes extends Reading {
  readonly seconds: number;
  /** CPU time of all replicas together. */
  readonly cpuSeconds: number;
  /** Statements of all replicas together. */
  readonly statements: number;
}

interface Counters {
  /** Reads all counters. May be called once. */
  read(): Promise<Changes>;
  readDatabase(): Promise<Reading>;
}

/** Starts the counters of PostgreSQL and of the replicas. */
export async function startCounters(database: DatabaseObserver, group: ReplicaGroup): Promise<Counters> {
  const countStatements = await group.countStatements();
  const before = await database.read();
  const startedAt = performance.now();
  const cpuBefore = group.cpuSeconds();
  const readDatabase = async () => difference(before, await database.read());
  return {
    readDatabase,
    async read() {
      const cpuSeconds = group.cpuSeconds() - cpuBefore;
      const seconds = (performance.now() - startedAt) / 1_000;
      return { seconds, cpuSeconds, ...(await readDatabase()), statements: await countStatements() };
    },
  };
}

function difference(before: Reading, after: Reading): Reading {
  return {
    cpuMs: after.cpuMs - before.cpuMs,
    transactions: after.transactions - before.transactions,
    walBytes: after.walBytes - before.walBytes,
    recordBytes: after.recordBytes - before.recordBytes,
  };
}
