import type { Server } from 'node:http';
import type { Socket } from 'node:net';

const LOOKS_PER_TIMEOUT = 4;

/** What a connection's client had taken when that last changed. */
interface Progress {
  readonly bytes: number;
  readonly at: number;
}

/**
 * Cuts off clients that take nothing of what is waiting for them. One look at all connections now and then
 * instead of a timer for each: a client is cut off up to a quarter of the timeout late.
 */
export class StalledClients {
  private readonly progress = new WeakMap<Socket, Progress>();

  constructor(
    server: Server,
    private readonly connections: { readonly sockets: Iterable<Socket> },
    private readonly timeoutMs: number,
  ) {
    const looking = setInterval(() => this.look(), Math.ceil(timeoutMs / LOOKS_PER_TIMEOUT)).unref();
    server.once('close', () => clearInterval(looking));
  }

  private look(): void {
    const now = performance.now();
    for (const socket of this.connections.sockets) {
      if (socket.writableLength === 0) this.progress.delete(socket);
      else this.judge(socket, now);
    }
  }

  private judge(socket: Socket, now: number): void {
    const bytes = socket.bytesWritten - socket.writableLength;
    const before = this.progress.get(socket);
    if (before?.bytes !== bytes) this.progress.set(socket, { bytes, at: now });
    // Reset, for the kernel would go on offering the rest.
    else if (now - before.at >= this.timeoutMs) socket.resetAndDestroy();
  }
}
