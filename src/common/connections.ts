import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How long the shutdown waits for a load balancer to close the connections that it keeps. */
const BALANCER_TIMEOUT_MS = 10_000;

/**
 * The connections of a server, for its shutdown: Node waits for those that have been kept after their last
 * request, and for those on which none has come yet, as browsers open them in advance.
 */
export class Connections {
  private readonly sockets = new Set<Socket>();
  private readonly running = new Map<Socket, ServerResponse>();
  private isEnding = false;
  private isBalancer: (socket: Socket) => boolean = () => false;

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const { socket } = request;
      this.running.set(socket, response);
      if (this.isEnding) response.shouldKeepAlive = false;
      response.once('close', () => {
        this.running.delete(socket);
        if (this.isEnding && !this.isBalancer(socket)) socket.end();
      });
    });
  }

  /**
   * Ends each of them as soon as nothing runs on it. A load balancer may send a request at this very moment on a
   * connection that it keeps, and could not send it to another replica, as this one may have begun with it. So
   * its connections are left open for it to close, for some time; a request that comes is answered, and
   * with it goes the word that the connection is over.
   */
  end(isBalancer: (socket: Socket) => boolean): void {
    this.isEnding = true;
    this.isBalancer = isBalancer;
    for (const response of this.running.values()) response.shouldKeepAlive = false;
    this.destroyIdle(isBalancer);
    setTimeout(() => {
      this.isBalancer = () => false;
      this.destroyIdle(() => false);
    }, BALANCER_TIMEOUT_MS).unref();
  }

  private destroyIdle(except: (socket: Socket) => boolean): void {
    for (const socket of this.sockets) if (!this.running.has(socket) && !except(socket)) socket.destroy();
  }
}
