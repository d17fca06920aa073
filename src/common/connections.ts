import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * The connections of a server, for its shutdown: Node waits for those that have been kept after their last
 * request, and for those on which none has come yet, as browsers open them in advance.
 */
export class Connections {
  private readonly sockets = new Set<Socket>();
  private readonly running = new Map<Socket, ServerResponse>();
  private ending = false;

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const { socket } = request;
      this.running.set(socket, response);
      response.once('close', () => {
        this.running.delete(socket);
        if (this.ending) socket.end();
      });
    });
  }

  /** Ends each of them as soon as nothing runs on it. */
  end(): void {
    this.ending = true;
    for (const socket of this.sockets) {
      const response = this.running.get(socket);
      if (!response) socket.destroy();
      else if (!response.headersSent) response.setHeader('Connection', 'close');
    }
  }
}
