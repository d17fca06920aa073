import type { Socket } from 'node:net';
import { PlainConnection } from './plain-connection.js';
import type { PlainServing } from './plain-connection.js';

/** All connections whose requests were plain so far. One look at them now and then, instead of timers for each. */
export class PlainConnections {
  private readonly connections = new Set<PlainConnection>();
  private readonly looking: NodeJS.Timeout;

  /** @param lookIntervalMs how much later than said a connection may be ended */
  constructor(
    private readonly serving: PlainServing,
    lookIntervalMs: number,
  ) {
    this.looking = setInterval(() => this.look(), lookIntervalMs).unref();
  }

  add(socket: Socket): void {
    const connection = new PlainConnection(socket, this.serving, () => this.connections.delete(connection));
    this.connections.add(connection);
  }

  close(): void {
    clearInterval(this.looking);
  }

  private look(): void {
    const now = performance.now();
    for (const connection of this.connections) connection.look(now);
  }
}
