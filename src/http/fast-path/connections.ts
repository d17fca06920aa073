import type { Socket } from 'node:net';
import { FastPathConnection } from './connection.js';
import type { FastPathOptions } from './connection.js';

/** Connections on the fast path. One periodic check of their timeouts replaces a timer for each connection. */
export class FastPathConnections {
  private readonly connections = new Set<FastPathConnection>();
  private readonly timer: NodeJS.Timeout;

  /** @param checkIntervalMs maximum delay of a timeout */
  constructor(
    private readonly options: FastPathOptions,
    checkIntervalMs: number,
  ) {
    this.timer = setInterval(() => this.checkTimeouts(), checkIntervalMs).unref();
  }

  add(socket: Socket): void {
    const connection = new FastPathConnection(socket, this.options, () =>
      this.connections.delete(connection),
    );
    this.connections.add(connection);
  }

  close(): void {
    clearInterval(this.timer);
  }

  private checkTimeouts(): void {
    const now = performance.now();
    for (const connection of this.connections) connection.checkTimeout(now);
  }
}
