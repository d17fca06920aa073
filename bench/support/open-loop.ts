import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { Connection } from './connection.js';
import type { TimedResponse } from './connection.js';

/** Request and the port that it is sent to. */
export interface Target {
  readonly port: number;
  readonly request: Buffer;
}

export interface OpenLoop {
  /** The targets take turns. */
  readonly targets: readonly Target[];
  readonly perSecond: number;
  readonly seconds: number;
}

/** More requests than this without a response mean that the server does not keep up. */
const BACKLOG_SECONDS = 5;
/** Share of the rate that has to be reached, counted until the last response. */
const HELD_SHARE = 0.9;

/** The server, or the machine, cannot serve the requested rate. */
export class RateNotHeld extends Error {}

/**
 * Sends at a fixed rate, independent of the responses, over as many keep-alive connections as needed.
 * @throws RateNotHeld if a response is missing or not 200, or if requests or responses fall behind the rate
 */
export async function runOpenLoop(load: OpenLoop): Promise<TimedResponse[]> {
  const sender = new Sender(load);
  try {
    return await sender.run();
  } catch (error) {
    const rate = `${load.perSecond} requests/s not held`;
    throw new RateNotHeld(`${rate}: ${(error as Error).message}`, { cause: error });
  } finally {
    sender.close();
  }
}

class Sender {
  private readonly responses: TimedResponse[] = [];
  private readonly connections = new Set<Connection>();
  /** Connections without a request, by port. */
  private readonly idle = new Map<number, Connection[]>();
  private waiting = 0;
  private failure?: Error;

  constructor(private readonly load: OpenLoop) {}

  async run(): Promise<TimedResponse[]> {
    const { targets, perSecond, seconds } = this.load;
    const total = Math.round(perSecond * seconds);
    const exchanges: Promise<void>[] = [];
    const start = performance.now();
    for (let i = 0; i < total && !this.failure; i++) {
      const waitMs = start + (i * 1_000) / perSecond - performance.now();
      await (waitMs > 0 ? delay(waitMs) : nextTurn()); // a late sender must still let responses arrive
      if (this.waiting > perSecond * BACKLOG_SECONDS)
        this.fail(new Error(`${this.waiting} requests are waiting`));
      exchanges.push(this.exchange(targets[i % targets.length]!));
    }
    await Promise.all(exchanges);
    if (this.failure) throw this.failure;
    const reached = total / ((performance.now() - start) / 1_000);
    if (reached < perSecond * HELD_SHARE)
      throw new Error(`only ${reached.toFixed(0)} per second were reached`);
    return this.responses;
  }

  close(): void {
    for (const connection of this.connections) connection.close();
  }

  private async exchange({ port, request }: Target): Promise<void> {
    this.waiting++;
    try {
      const idle = this.idleOf(port);
      const connection = this.takeIdle(idle) ?? (await this.connect(port));
      const response = await connection.send(request);
      idle.push(connection);
      if (response.status !== 200) throw new Error(`status ${response.status}`);
      this.responses.push(response);
    } catch (error) {
      this.fail(error as Error);
    } finally {
      this.waiting--;
    }
  }

  /** Ends the run at once: the pending exchanges fail with their connections. */
  private fail(error: Error): void {
    if (this.failure) return;
    this.failure = error;
    this.close();
  }

  private async connect(port: number): Promise<Connection> {
    const connection = await Connection.open(port);
    this.connections.add(connection);
    if (this.failure) connection.close();
    return connection;
  }

  private idleOf(port: number): Connection[] {
    const idle = this.idle.get(port) ?? [];
    this.idle.set(port, idle);
    return idle;
  }

  /** Skips connections that the server has closed since their last response. */
  private takeIdle(idle: Connection[]): Connection | undefined {
    for (;;) {
      const connection = idle.pop();
      if (!connection || connection.isOpen) return connection;
      this.connections.delete(connection);
    }
  }
}
