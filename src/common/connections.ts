import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpRequest, HttpResponse } from './http-exchange.js';

/** How long the shutdown waits for a load balancer to close the connections that it keeps. */
const BALANCER_TIMEOUT_MS = 10_000;
/** How long the rest of a request that is answered already is read and dropped. */
const REST_TIMEOUT_MS = 5_000;

/**
 * What is known of a connection. Changed in place: a map that gets and loses an entry for every request leaves
 * tables behind that hold on to the requests, for the garbage collector to move about.
 */
interface Connection {
  /** The youngest response; with requests in a pipeline, it is also the last one to close. */
  running?: HttpResponse;
  /** Its request has its answer, and is still coming in. */
  isAnswered: boolean;
  /** Responses behind another one in a pipeline, which have no socket yet. */
  queued?: Set<HttpResponse>;
}

/**
 * The connections of a server. For its shutdown: Node waits for those that have been kept after their last
 * request, and for those on which none has come yet, as browsers open them in advance. And for those that go on
 * sending what nobody reads.
 */
export class Connections {
  private readonly connections = new Map<Socket, Connection>();
  private isEnding = false;
  private isBalancer: (socket: Socket) => boolean = () => false;

  /** @param bodyTimeoutMs how long a request may take to come in */
  constructor(
    server: Server,
    private readonly bodyTimeoutMs: number,
  ) {
    server.on('connection', (socket: Socket) => {
      const connection: Connection = { isAnswered: false };
      this.connections.set(socket, connection);
      socket.once('close', () => {
        this.connections.delete(socket);
        for (const response of connection.queued ?? []) abandon(response);
      });
    });
  }

  get sockets(): Iterable<Socket> {
    return this.connections.keys();
  }

  /** A request is being answered. */
  began(request: HttpRequest, response: HttpResponse): void {
    const connection = this.connections.get(request.socket);
    if (!connection) return;
    connection.running = response;
    if (this.isEnding) response.shouldKeepAlive = false;
    if (response.socket === null) queue(connection, response);
    response.on('close', () => this.closed(connection, request, response));
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
    for (const { running } of this.connections.values()) if (running) running.shouldKeepAlive = false;
    this.destroyIdle(isBalancer);
    setTimeout(() => {
      this.isBalancer = () => false;
      this.destroyIdle(() => false);
    }, BALANCER_TIMEOUT_MS).unref();
  }

  private destroyIdle(except: (socket: Socket) => boolean): void {
    for (const [socket, { running }] of this.connections) {
      if (!running && !except(socket)) socket.destroy();
    }
  }

  /** Whether the client would take what is written now for the answer to what it is sending. */
  takesAnswer(socket: Socket): boolean {
    const connection = this.connections.get(socket);
    if (!socket.writable || !connection || connection.isAnswered) return false;
    const response = connection.running;
    if (!response) return true;
    return response.req.complete ? isWritten(response) : !response.headersSent;
  }

  private closed(connection: Connection, request: HttpRequest, response: HttpResponse): void {
    const { socket } = request;
    if (connection.running !== response) return;
    connection.running = undefined;
    if (this.isEnding && !this.isBalancer(socket)) socket.end();
    if (!request.complete && !socket.destroyed) this.awaitRest(connection, request);
  }

  /** Clients read their answers when they have sent all they wanted to; but not for ever. */
  private awaitRest(connection: Connection, request: HttpRequest): void {
    const { socket } = request;
    const deadline = setTimeout(() => socket.destroy(), Math.min(REST_TIMEOUT_MS, this.bodyTimeoutMs));
    connection.isAnswered = true;
    request.once('close', () => {
      clearTimeout(deadline);
      connection.isAnswered = false;
    });
  }
}

function queue(connection: Connection, response: HttpResponse): void {
  const queued = (connection.queued ??= new Set());
  queued.add(response);
  response.once('close', () => queued.delete(response));
}

/** Node tells a response that its client has left once it has a socket, and not before. */
function abandon(response: HttpResponse): void {
  if (response.socket !== null) return;
  response.destroy();
  response.emit('close');
}

/** Whether all of it is handed to the connection. Those that wait behind another one in a pipeline have none. */
function isWritten({ writableEnded, writableFinished, socket }: HttpResponse): boolean {
  return writableFinished || (writableEnded && socket !== null);
}
