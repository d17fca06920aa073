import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../test/support/free-port.js';
import { PinnedChild } from '../support/child.js';

const READY_TIMEOUT_MS = 60_000;
const STARTS = 3;

/** One of the two: it comes back on the same port and data folder, however it ended. */
export class Replica {
  /** Counts its starts. */
  life = 0;
  bornAt = 0;
  /** Starts that ended before it listened. */
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

  /** Comes back when it is ready; as under an orchestrator, a start that fails is tried again. */
  async begin(): Promise<void> {
    for (let tries = 1; !this.child; tries++) {
      this.child = await this.spawn().catch((error: unknown) => {
        if (tries === STARTS) throw error;
        this.failedStarts++;
        return undefined;
      });
    }
    this.life++;
    this.bornAt = performance.now();
    await this.ready();
  }

  /** @throws Error when it is not within a minute */
  async ready(): Promise<void> {
    const deadline = performance.now() + READY_TIMEOUT_MS;
    while (!(await this.isReady())) {
      if (performance.now() > deadline) throw new Error(`replica ${this.name} is not ready`);
      await pause(200);
    }
  }

  /** As a crash. */
  async kill(): Promise<void> {
    const { child } = this;
    this.child = undefined;
    await child?.kill();
  }

  /** Resolves to its exit code; null when it did not end in time and was killed. */
  async terminate(): Promise<number | null> {
    const { child } = this;
    this.child = undefined;
    await child?.stop();
    return child?.exitCode ?? null;
  }

  /** After a full garbage collection; undefined while it is down. */
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
