import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../test/support/free-port.js';
import { PinnedChild } from '../support/child.js';

const READY_TIMEOUT_MS = 60_000;
const MAX_STARTS = 3;

/** A replica of the service. It keeps its port and data folder over restarts and crashes. */
export class Replica {
  /** Number of starts. */
  life = 0;
  bornAt = 0;
  /** Number of starts that ended before the replica listened. */
  failedStarts = 0;
  private child?: PinnedChild;

  private constructor(
    readonly name: string,
    readonly port: number,
    private readonly core: number,
    private readonly env: NodeJS.ProcessEnv,
  ) {}

  static async start(name: string, core: number, env: NodeJS.ProcessEnv): Promise<Replica> {
    const replica = new Replica(name, await freePort(), core, env);
    await replica.begin();
    return replica;
  }

  /** Resolves when the replica is ready. A failed start is retried, as an orchestrator does. */
  async begin(): Promise<void> {
    for (let tries = 1; !this.child; tries++) {
      this.child = await this.spawn().catch((error: unknown) => {
        if (tries === MAX_STARTS) throw error;
        this.failedStarts++;
        return undefined;
      });
    }
    this.life++;
    this.bornAt = performance.now();
    await this.ready();
  }

  /** Resolves when the replica is ready. @throws Error after a minute */
  async ready(): Promise<void> {
    const deadline = performance.now() + READY_TIMEOUT_MS;
    while (!(await this.isReady())) {
      if (performance.now() > deadline) throw new Error(`replica ${this.name} is not ready after a minute`);
      await pause(200);
    }
  }

  /** Simulates a crash. */
  async kill(): Promise<void> {
    const { child } = this;
    this.child = undefined;
    await child?.kill();
  }

  /** Sends SIGTERM. Resolves to the exit code, or to null if the replica did not end in time and was killed. */
  async terminate(): Promise<number | null> {
    const { child } = this;
    this.child = undefined;
    await child?.stop();
    return child?.exitCode ?? null;
  }

  /** Memory after a full garbage collection; undefined while the replica is down. */
  async memory(): Promise<NodeJS.MemoryUsage | undefined> {
    return this.child?.memory().catch(() => undefined);
  }

  private async isReady(): Promise<boolean> {
    try {
      return (await fetch(`http://127.0.0.1:${this.port}/readyz`)).status === 200;
    } catch {
      return false;
    }
  }

  private spawn(): Promise<PinnedChild> {
    const { core, env, port } = this;
    return PinnedChild.startNode({ args: ['dist/main.js'], core, env, port });
  }
}
