import type { Server } from 'node:http';
import type { Socket } from 'node:net';

const CHECKS_PER_TIMEOUT = 4;

/**
 * Resets connections whose clients read nothing although bytes are waiting for them. One periodic check replaces a timer
 * for each connection, so a connection is reset up to a quarter of the timeout late.
 */
export class StalledClients {
  private readonly progress = new WeakMap<Socket, Progress>();

  constructor(
    server: Server,
    private readonly connections: { readonly sockets: Iterable<Socket> },
    private readonly timeoutMs: number,
  ) {
    const timer = setInterval(() => this.checkAll(), Math.ceil(timeoutMs / CHECKS_PER_TIMEOUT)).unref();
    server.once('close', () => clearInterval(timer));
  }

  private checkAll(): void {
    const now = performance.now();
    for (const socket of this.connections.sockets) {
      if (socket.writableLength === 0) this.progress.delete(socket);
      else this.check(socket, now);
    }
  }

  private check(socket: Socket, now: number): void {
    const bytes = socket.bytesWritten - socket.writableLength;
    const before = this.progress.get(socket);
    if (before?.bytes !== bytes) this.progress.set(socket, { bytes, at: now });
    // Reset, because the kernel would go on offering the rest after an ordinary close.
    else if (now - before.at >= this.timeoutMs) socket.resetAndDestroy();
  }
}

/** Bytes that a client had read when the number last changed. */
interface Progress {
  readonly bytes: number;
  readonly at: number;
}
