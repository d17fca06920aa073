import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../test/support/eventually.js';
import { UNLIMITED } from '../proxy/mintkeep.js';
import { PinnedChild } from '../support/child.js';
import { serviceSettings } from '../support/session.js';
import type { Workspace } from '../support/workspace.js';

/** All replicas share this core. PostgreSQL, the mock upstream and the load generator share the other one. */
const REPLICA_CORE = 0;
const READY_TIMEOUT_MS = 60_000;
const STATEMENTS = /^mintkeep_database_query_duration_seconds_count\{.*\} (\d+)$/gm;

/** Replicas of the service on one database, each with a data folder of its own. */
export class ReplicaGroup {
  private readonly replicas: PinnedChild[] = [];

  /** Starts the replicas one after the other. Resolves when all are ready. */
  static async start(workspace: Workspace, count: number): Promise<ReplicaGroup> {
    const group = new ReplicaGroup();
    try {
      for (let i = 0; i < count; i++) group.replicas.push(await startReplica(workspace, `replica-${i}`));
      await Promise.all(group.ports.map(untilReady));
      return group;
    } catch (error) {
      await group.stop();
      throw error;
    }
  }

  get ports(): number[] {
    return this.replicas.map(({ port }) => port);
  }

  /** CPU time of all replicas together. */
  cpuSeconds(): number {
    return sum(this.replicas.map((replica) => replica.cpuSeconds()));
  }

  /**
   * Counts the statements of all replicas together. Heartbeats and acknowledgements of invalidations are not included.
   * @returns function that reads the count, to be called once: reading the metrics causes statements itself
   */
  async countStatements(): Promise<() => Promise<number>> {
    const before = await this.statements();
    const start = await this.statements();
    const ownStatements = start - before;
    return async () => (await this.statements()) - start - ownStatements;
  }

  /** Mean memory of a replica after a full garbage collection. */
  async meanRss(): Promise<number> {
    const usages = await Promise.all(this.replicas.map((replica) => replica.memory()));
    return sum(usages.map(({ rss }) => rss)) / usages.length;
  }

  async stop(): Promise<void> {
    await Promise.all(this.replicas.map((replica) => replica.stop()));
  }

  private async statements(): Promise<number> {
    return sum(await Promise.all(this.ports.map(readStatements)));
  }
}

async function startReplica(workspace: Workspace, name: string): Promise<PinnedChild> {
  const dataDir = join(workspace.dataDir, name);
  await mkdir(dataDir, { recursive: true });
  const env = { ...serviceSettings({ ...workspace, dataDir }), ...UNLIMITED };
  return PinnedChild.startNode({ args: ['dist/main.js'], core: REPLICA_CORE, env });
}

async function untilReady(port: number): Promise<void> {
  await eventually(async () => {
    const { status } = await fetch(`http://127.0.0.1:${port}/readyz`);
    if (status !== 200) throw new Error(`replica on port ${port} is not ready: ${status}`);
  }, READY_TIMEOUT_MS);
}

async function readStatements(port: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return sum([...text.matchAll(STATEMENTS)].map(([, count]) => Number(count)));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
