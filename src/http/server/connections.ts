import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpRequest, HttpResponse } from '../http-exchange.js';

/** Time that a shutdown waits for a load balancer to close the connections that it keeps. */
const BALANCER_TIMEOUT_MS = 10_000;
/** Time that the rest of a request is read and dropped after its response. */
export const REST_TIMEOUT_MS = 5_000;

/** Maximum number of open responses of one connection. Further requests are not read before a response closes. */
export const PIPELINE_LIMIT = 16;

/** Treatment of the bytes that a client sends next. */
export type Treatment = 'read' | 'wait' | 'drop';

/**
 * Connections of a server with their open responses. The server uses them to end a pipeline, to reject the rest of a
 * connection, and to shut down. Node alone would wait for idle connections, and for clients that keep sending.
 */
export class Connections {
  private readonly connections = new Map<Socket, Connection>();
  private isEnding = false;
  private isBalancer: (socket: Socket) => boolean = () => false;

  /** @param bodyTimeoutMs maximum time from the start of a request until its body is complete */
  constructor(
    server: Server,
    private readonly bodyTimeoutMs: number,
  ) {
    server.on('connection', (socket: Socket) => {
      const connection: Connection = { isDraining: false, openCount: 0, isRejected: false };
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

  onRequest(request: HttpRequest, response: HttpResponse): void {
    const connection = this.connections.get(request.socket);
    if (!connection) return;
    connection.running = response;
    connection.openCount++;
    if (this.isEnding) response.shouldKeepAlive = false;
    if (response.socket === null) queue(connection, response);
    response.on('close', () => this.onClose(connection, request, response));
  }

  /**
   * Ends each connection as soon as it has no open response. Connections of a load balancer stay open for some time, so
   * that the load balancer closes them. Otherwise a request that is sent at this moment would be lost. The load balancer
   * must not repeat such a request, because this replica may have begun to process it. A response announces the end of
   * its connection.
   */
  end(isBalancer: (socket: Socket) => boolean): void {
    this.isEnding = true;
    this.isBalancer = isBalancer;
    for (const { running, onEnding } of this.connections.values()) {
      if (running) running.shouldKeepAlive = false;
      onEnding?.();
    }
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

  /**
   * Treatment of the next bytes. Bytes after a request that ends its connection belong to no request.
   */
  treatmentOf(socket: Socket): Treatment {
    const connection = this.connections.get(socket);
    if (!connection) return 'read';
    const { running, openCount, isRejected } = connection;
    if (isRejected) return 'drop';
    if (!running?.req.complete) return 'read';
    if (!running.shouldKeepAlive) return 'drop';
    return openCount < PIPELINE_LIMIT ? 'read' : 'wait';
  }

  /** Request that is being read; undefined if the next bytes begin another one. */
  incomplete(socket: Socket): HttpRequest | undefined {
    const request = this.connections.get(socket)?.running?.req;
    return request?.complete === false ? request : undefined;
  }

  /** @param onEnding is called when the server stops, because the other protocol has to end the connection */
  onUpgrade(socket: Socket, onEnding: () => void): void {
    const connection = this.connections.get(socket);
    if (connection) connection.onEnding = onEnding;
    if (this.isEnding) setImmediate(onEnding);
  }

  /** @param listener is called after each response of the connection */
  onResponseClosed(socket: Socket, listener: () => void): void {
    const connection = this.connections.get(socket);
    if (connection) connection.onResponseClosed = listener;
  }

  /** @param onReady is called once the responses to earlier requests are delivered; nothing more is read until then */
  reject(socket: Socket, onReady: () => void): void {
    const connection = this.connections.get(socket);
    if (!connection || connection.isRejected) return;
    connection.isRejected = true;
    connection.reject = onReady;
    rejectInTurn(connection);
  }

  /** Whether the client would take a response that is written now for the response to its current request. */
  canRespond(socket: Socket): boolean {
    const connection = this.connections.get(socket);
    if (!socket.writable || !connection || connection.isDraining) return false;
    const response = connection.running;
    if (!response) return true;
    return response.req.complete ? isWritten(response) : !response.headersSent;
  }

  private onClose(connection: Connection, request: HttpRequest, response: HttpResponse): void {
    const { socket } = request;
    connection.openCount--;
    if (connection.running === response) {
      connection.running = undefined;
      if (this.isEnding && !this.isBalancer(socket)) socket.end();
      if (!request.complete && !socket.destroyed) this.drainRequest(connection, request);
    }
    if (socket.destroyed) return;
    rejectInTurn(connection);
    connection.onResponseClosed?.();
  }

  /** Reads and drops the rest of the request for some time, because many clients read no response before they sent it. */
  private drainRequest(connection: Connection, request: HttpRequest): void {
    const { socket } = request;
    const deadline = setTimeout(() => socket.destroy(), Math.min(REST_TIMEOUT_MS, this.bodyTimeoutMs));
    connection.isDraining = true;
    request.once('close', () => {
      clearTimeout(deadline);
      connection.isDraining = false;
    });
  }
}

/** The incomplete request that is rejected has at most one response, which has not begun. */
function rejectInTurn(connection: Connection): void {
  const { running, openCount, reject } = connection;
  if (!reject || openCount > (running?.req.complete === false ? 1 : 0)) return;
  connection.reject = undefined;
  reject();
}

function queue(connection: Connection, response: HttpResponse): void {
  const queued = (connection.queued ??= new Set());
  queued.add(response);
  response.once('close', () => queued.delete(response));
}

/** Closes a response that never got a socket. Node itself emits `close` only for responses with a socket. */
function abandon(response: HttpResponse): void {
  if (response.socket !== null) return;
  response.destroy();
  response.emit('close');
}

/** Whether all bytes are handed to the socket. A response that waits in a pipeline has no socket. */
function isWritten({ writableEnded, writableFinished, socket }: HttpResponse): boolean {
  return writableFinished || (writableEnded && socket !== null);
}

/**
 * State of a connection, changed in place. A map with one entry per request would leave tables behind that keep the
 * requests in memory and burden the garbage collector.
 */
interface Connection {
  /** Latest response; in a pipeline, it is also the last one to close. */
  running?: HttpResponse;
  /** Whether the response is closed while its request is still arriving. */
  isDraining: boolean;
  /** Responses that wait for an earlier one in a pipeline, and have no socket yet. */
  queued?: Set<HttpResponse>;
  /** Number of responses that are not closed. */
  openCount: number;
  /** Whether nothing more of the connection is read. */
  isRejected: boolean;
  /** Rejects the rest of the connection once the responses to earlier requests are delivered. */
  reject?: () => void;
  /** Is called after each response of the connection. */
  onResponseClosed?: () => void;
  /** Ends a connection that was taken over for another protocol. */
  onEnding?: () => void;
}
