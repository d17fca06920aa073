import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { Socket } from 'node:net';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Express } from 'express';
import { assignRequestId } from '../../common/api/request-id.js';
import { FastPathConnections } from '../fast-path/connections.js';
import type { HttpRequest, HttpResponse } from '../http-exchange.js';
import { Connections } from './connections.js';
import { Cors } from './cors.js';
import type { HttpLimits } from './http-limits.js';
import { PipelinedReader } from './pipelined-reader.js';
import { rejectConnection, rejectionStatus } from './reject-connection.js';
import type { ConnectionRejection } from './reject-connection.js';
import { isBelow, toDecodableTarget, toOriginForm } from './request-target.js';
import { StalledClients } from './stalled-clients.js';

const QUIET_TURN_MS = 0.1;
const QUIET_TURN_ATTEMPTS = 1_000;

/** Longest interval between two checks of Node for connections that exceed a timeout. */
const MAX_CHECK_INTERVAL_MS = 5_000;

/** Whether an address belongs to a proxy that `TRUST_PROXY` names. */
export type TrustProxy = (address: string, hop: number) => boolean;

/** Settings and fixed limits of the server. */
export interface HttpServerSettings extends HttpLimits {
  readonly corsOrigins: readonly string[];
  readonly headerLimitBytes: number;
  /** Whether simple requests are read on the fast path. */
  readonly httpFastPath: boolean;
}

type Listener = (request: HttpRequest, response: HttpResponse) => void;

/** Express on mintkeep's own HTTP server. Every response has a request id, including those that Express never sees. */
export class HttpServerAdapter extends ExpressAdapter {
  private readonly cors: Cors;
  private connections: Connections;
  private below?: { readonly prefix: string; readonly listener: Listener };

  constructor(private readonly settings: HttpServerSettings) {
    super();
    this.cors = new Cors(settings.corsOrigins);
  }

  /**
   * Passes every request below a path to a listener. Express, its guards and its filters do not see these requests, and
   * they get no request id here. Only these requests can take the fast path.
   * @param prefix without a slash at the end
   */
  handleBelow(prefix: string, listener: Listener): void {
    this.below = { prefix, listener };
  }

  override initHttpServer(): void {
    const { bodyTimeoutMs, clientIdleTimeoutMs } = this.settings;
    const server: Server = createServer(serverOptions(this.settings));
    server.maxHeadersCount = 0; // Node would silently drop the headers above its limit
    server.on('checkExpectation', (request, response) => server.emit('request', request, response));
    server.on('checkContinue', (request, response) => {
      continueWhenRead(request, response);
      server.emit('request', request, response);
    });
    server.on('request', (request, response) => this.onNodeRequest(request, response));
    server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      this.reject(socket as Socket, rejectionStatus(error));
    });
    this.connections = new Connections(server, bodyTimeoutMs);
    new StalledClients(server, this.connections, clientIdleTimeoutMs);
    this.routeConnections(server);
    // Node's own method does not know the connections of the fast path.
    server.closeAllConnections = () => {
      for (const socket of this.connections.sockets) socket.destroy();
    };
    this.httpServer = server;
  }

  /** Stops accepting connections. Resolves when all connections have ended. */
  override async close(): Promise<void> {
    await acceptPendingConnections();
    const closed = new Promise((resolve) => {
      // The method of HTTP servers would also cut the connections that a load balancer keeps.
      NetServer.prototype.close.call(this.httpServer, resolve);
    });
    const trusts = this.getInstance<Express>().get('trust proxy fn') as TrustProxy;
    this.connections.end(({ remoteAddress }) => remoteAddress !== undefined && trusts(remoteAddress, 0));
    await closed;
  }

  /**
   * Handles requests that are rejected, preflights, or below the path of {@link handleBelow}. Every request of both the
   * fast path and the Node path is passed to this method.
   * @returns false if the request is left to Express
   */
  handle(request: HttpRequest, response: HttpResponse): boolean {
    if (request.rawHeaders.length > this.settings.headerCountLimit * 2) {
      this.reject(request.socket, 431);
      return true;
    }
    this.connections.onRequest(request, response);
    if (this.cors.handle(request, response)) return true;
    if (!this.isBelow(request.url ?? '')) return false;
    this.below!.listener(request, response);
    return true;
  }

  private isBelow(url: string): boolean {
    return this.below !== undefined && isBelow(url, this.below.prefix);
  }

  private onNodeRequest(request: IncomingMessage, response: ServerResponse): void {
    request.url = toOriginForm(request.url ?? '/');
    if (losesFollowingBytes(request)) response.shouldKeepAlive = false;
    if (hasWrongHost(request)) this.reject(request.socket, 400);
    else if (!this.handle(request, response)) {
      assignRequestId(request, response);
      keepConditions(request);
      request.url = toDecodableTarget(request.url === '*' ? '/*' : request.url);
      this.getInstance<Express>()(request, response);
    }
  }

  /**
   * Removes Node's listener for new connections, which would attach Node's parser to each of them. The listener is called
   * by hand for the connections of the Node path. Emitting the event again would pass them back to this server.
   */
  private routeConnections(server: Server): void {
    const [nodeListener] = server.listeners('connection') as ((this: Server, socket: Socket) => void)[];
    const serveByNode = (socket: Socket) =>
      this.serveByNode(socket, () => nodeListener!.call(server, socket));
    server.off('connection', nodeListener!);
    if (this.settings.httpFastPath) this.startFastPath(server, serveByNode);
    else server.on('connection', serveByNode);
  }

  /** @param handOver serves a connection on the Node path */
  private startFastPath(server: Server, handOver: (socket: Socket) => void): void {
    const { bodyTimeoutMs, keepAliveTimeoutMs, headerLimitBytes } = this.settings;
    const { headersTimeout, connectionsCheckingInterval } = serverOptions(this.settings);
    const connections = new FastPathConnections(
      {
        headersTimeoutMs: headersTimeout!,
        bodyTimeoutMs,
        keepAliveTimeoutMs,
        headerLimitBytes,
        accepts: (url) => this.isBelow(url),
        handle: (request, response) => void this.handle(request, response),
        handOver,
        onError: (socket, error) => server.emit('clientError', error, socket),
      },
      connectionsCheckingInterval!,
    );
    server.on('connection', (socket: Socket) => connections.add(socket));
    server.on('close', () => connections.close());
  }

  /** Rejects the rest of a connection after the responses to its earlier requests. */
  private reject(socket: Socket, status: ConnectionRejection): void {
    this.connections.reject(socket, () => {
      if (this.connections.canRespond(socket)) rejectConnection(socket, status);
      else socket.destroy(); // the client would take the rejection for a part of another response
    });
  }

  /** Node's own listener serves the connection, and gets its bytes from a {@link PipelinedReader}. */
  private serveByNode(socket: Socket, listener: () => void): void {
    listener();
    const [parse] = socket.listeners('data') as [(bytes: Buffer) => void];
    socket.off('data', parse);
    new PipelinedReader(socket, this.connections, parse, () => this.reject(socket, 400));
  }
}

function serverOptions(settings: HttpServerSettings): ServerOptions {
  const { bodyTimeoutMs, keepAliveTimeoutMs, headerLimitBytes } = settings;
  const headersTimeoutMs = Math.min(settings.headersTimeoutMs, bodyTimeoutMs);
  return {
    headersTimeout: headersTimeoutMs,
    requestTimeout: bodyTimeoutMs, // until the request is complete; the response has its own timeouts
    connectionsCheckingInterval: Math.min(MAX_CHECK_INTERVAL_MS, Math.ceil(headersTimeoutMs / 4)),
    keepAliveTimeout: keepAliveTimeoutMs,
    maxHeaderSize: headerLimitBytes,
    requireHostHeader: false, // Node's own rejection has neither a body nor a request id
  };
}

/**
 * Waits for a turn of the event loop that takes next to no time: then all pending connections are accepted. The kernel
 * resets the others when the server stops listening. Their clients consider them established and may have sent a POST,
 * which a load balancer must not send again.
 */
async function acceptPendingConnections(): Promise<void> {
  for (let turn = 0; turn < QUIET_TURN_ATTEMPTS; turn++) {
    const startedAt = performance.now();
    await new Promise((resolve) => setImmediate(resolve));
    if (performance.now() - startedAt < QUIET_TURN_MS) return;
  }
}

/**
 * Removes `Cache-Control` from conditional requests. `no-cache` addresses caches (RFC 9111, section 5.2.1.4), and every
 * `fetch` with an `If-None-Match` sends it. Express would ignore the condition.
 */
function keepConditions({ headers }: IncomingMessage): void {
  if (headers['if-none-match'] !== undefined) delete headers['cache-control'];
}

/** Whether the request violates RFC 9112, section 3.2: exactly one `Host` in HTTP/1.1, at most one in HTTP/1.0. */
function hasWrongHost({ httpVersion, rawHeaders }: IncomingMessage): boolean {
  const hosts = rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === 'host').length;
  return hosts > 1 || (httpVersion === '1.1' && hosts === 0);
}

/**
 * Whether Node's parser drops the bytes after this request, as it does after an unsupported `Upgrade`. A
 * {@link PipelinedReader} withholds these bytes, except after a chunked body, whose end only the parser finds.
 */
function losesFollowingBytes({ headers }: IncomingMessage): boolean {
  return headers.upgrade !== undefined && headers['transfer-encoding'] !== undefined;
}

/** Sends `100 Continue` when the body is first read: a rejected client need not send it (RFC 9110, section 10.1.1). */
function continueWhenRead(request: IncomingMessage, response: ServerResponse): void {
  request.once('resume', () => {
    // Node would write the line into the middle of an earlier response of a pipeline. The client goes on without it.
    if (response.socket && !response.headersSent) response.writeContinue();
  });
}
