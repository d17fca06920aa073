import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How long the shutdown waits for a load balancer to close the connections that it keeps. */
const BALANCER_TIMEOUT_MS = 10_000;
/** How long the rest of a request that is answered already is read and dropped. */
const REST_TIMEOUT_MS = 5_000;

/**
 * The connections of a server. For its shutdown: Node waits for those that have been kept after their last
 * request, and for those on which none has come yet, as browsers open them in advance. And for those that go on
 * sending what nobody reads.
 */
export class Connections {
  readonly sockets = new Set<Socket>();
  /** The youngest response on each; with requests in a pipeline, it is also the last one to close. */
  private readonly running = new Map<Socket, ServerResponse>();
  /** Those whose request has its answer, and is still coming in. */
  private readonly answered = new Set<Socket>();
  private isEnding = false;
  private isBalancer: (socket: Socket) => boolean = () => false;

  /** @param bodyTimeoutMs how long a request may take to come in */
  constructor(
    server: Server,
    private readonly bodyTimeoutMs: number,
  ) {
    server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const { socket } = request;
      this.running.set(socket, response);
      if (this.isEnding) response.shouldKeepAlive = false;
      response.once('close', () => {
        if (this.running.get(socket) !== response) return;
        this.running.delete(socket);
        if (this.isEnding && !this.isBalancer(socket)) socket.end();
        if (!request.complete && !socket.destroyed) this.awaitRest(request);
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

  /** Whether the client would take what is written now for the answer to what it is sending. */
  takesAnswer(socket: Socket): boolean {
    if (!socket.writable || this.answered.has(socket)) return false;
    const response = this.running.get(socket);
    if (!response) return true;
    return response.req.complete ? isWritten(response) : !response.headersSent;
  }

  /** Clients read their answers when they have sent all they wanted to; but not for ever. */
  private awaitRest(request: IncomingMessage): void {
    const { socket } = request;
    const deadline = setTimeout(() => socket.destroy(), Math.min(REST_TIMEOUT_MS, this.bodyTimeoutMs));
    this.answered.add(socket);
    request.once('close', () => {
      clearTimeout(deadline);
      this.answered.delete(socket);
    });
  }
}

/** Whether all of it is handed to the connection. Those that wait behind another one in a pipeline have none. */
function isWritten({ writableEnded, writableFinished, socket }: ServerResponse): boolean {
  return writableFinished || (writableEnded && socket !== null);
}
