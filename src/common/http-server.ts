import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import type { Server, ServerOptions } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { Socket } from 'node:net';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Express } from 'express';
import { Connections } from './connections.js';
import { Cors } from './cors.js';
import type { HttpRequest, HttpResponse } from './http-exchange.js';
import type { PlainServing } from './plain-http/plain-connection.js';
import { PlainConnections } from './plain-http/plain-connections.js';
import { refusalOf, refuseConnection } from './refuse-connection.js';
import type { ConnectionRefusal } from './refuse-connection.js';
import { assignRequestId } from './request-id.js';
import { StalledClients } from './stalled-clients.js';
import { isDecodable } from './text.js';

const HAS_CHEAP_SET_PROTOTYPE = Number(process.versions.node.split('.')[0]) >= 22;

/** Scheme and server. */
const ABSOLUTE_FORM = /^https?:\/\/[^/?#]*/i;

const QUIET_TURN_MS = 0.1;
const QUIET_TURN_ATTEMPTS = 1_000;

/** Whether an address is that of a proxy which `TRUST_PROXY` names. */
type TrustProxy = (address: string, hop: number) => boolean;

/** What the settings say of the server. */
export interface HttpServerSettings {
  readonly corsOrigins: readonly string[];
  readonly headersTimeoutMs: number;
  readonly bodyTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly clientIdleTimeoutMs: number;
  readonly headerLimitBytes: number;
  readonly headerCountLimit: number;
}

/** Node looks for connections that are too slow now and then; never more than this late. */
const MAX_CHECK_INTERVAL_MS = 5_000;

type Listener = (request: HttpRequest, response: HttpResponse) => void;

/** Express on an HTTP server of ours: request ids on every answer, also on those that Express never sees. */
export class HttpServerAdapter extends ExpressAdapter {
  private readonly cors: Cors;
  private connections: Connections;
  private below?: { readonly prefix: string; readonly listener: Listener };

  constructor(private readonly settings: HttpServerSettings) {
    super();
    this.cors = new Cors(settings.corsOrigins);
  }

  /**
   * Hands everything below a path to a listener, before Express sees it: no guard, no filter and no request id
   * of ours is between. Where a client asks for nothing else, its plain requests are not read by Node's parser.
   * @param prefix without a slash at the end
   */
  answerBelow(prefix: string, listener: Listener): void {
    this.below = { prefix, listener };
  }

  override initHttpServer(): void {
    const application = this.getInstance<Express>();
    const { bodyTimeoutMs, clientIdleTimeoutMs } = this.settings;
    const server: Server = createServer({ ...prototypesOf(application), ...limitsOf(this.settings) });
    server.maxHeadersCount = 0; // Node would drop the headers beyond it, and tell nobody
    server.on('checkExpectation', (request, response) => server.emit('request', request, response));
    server.on('checkContinue', (request, response) => {
      continueWhenRead(request, response);
      server.emit('request', request, response);
    });
    server.on('request', (request, response) => {
      request.url = originForm(request.url ?? '/');
      if (hasWrongHost(request)) this.refuse(request.socket, 400);
      else if (!this.answers(request, response)) {
        assignRequestId(request, response);
        heedConditions(request);
        request.url = withDecodablePath(request.url === '*' ? '/*' : request.url);
        application(request, response);
      }
    });
    server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      this.refuse(socket as Socket, refusalOf(error));
    });
    this.connections = new Connections(server, bodyTimeoutMs);
    new StalledClients(server, this.connections, clientIdleTimeoutMs);
    this.readPlainRequests(server);
    this.httpServer = server;
  }

  /** Stops accepting, and ends when all connections have. */
  override async close(): Promise<void> {
    await acceptWhatHasCome();
    const closed = new Promise((resolve) => {
      // That of HTTP servers would also cut the connections that a load balancer keeps.
      NetServer.prototype.close.call(this.httpServer, resolve);
    });
    const trusts = this.getInstance<Express>().get('trust proxy fn') as TrustProxy;
    this.connections.end(({ remoteAddress }) => remoteAddress !== undefined && trusts(remoteAddress, 0));
    await closed;
  }

  /** Every request comes by here, whoever reads it: some are answered, or refused, before Express sees them. */
  answers(request: HttpRequest, response: HttpResponse): boolean {
    if (request.rawHeaders.length > this.settings.headerCountLimit * 2) {
      this.refuse(request.socket, 431);
      return true;
    }
    this.connections.began(request, response);
    if (this.cors.answers(request, response)) return true;
    if (!this.isBelow(request.url ?? '')) return false;
    this.below!.listener(request, response);
    return true;
  }

  private isBelow(url: string): boolean {
    return this.below !== undefined && isBelow(url, this.below.prefix);
  }

  /**
   * Stands before Node's own way of reading a connection, which gets those that it has no use for. Node's listener would
   * have its parser read each connection as soon as it is there: so it is taken off, and called by hand for those that
   * are handed over. To emit the event again would bring them back here.
   */
  private readPlainRequests(server: Server): void {
    const [serveByNode] = server.listeners('connection') as ((this: Server, socket: Socket) => void)[];
    const { bodyTimeoutMs, keepAliveTimeoutMs, headerLimitBytes } = this.settings;
    const { headersTimeout, connectionsCheckingInterval } = limitsOf(this.settings);
    const serving: PlainServing = {
      headersTimeoutMs: headersTimeout!,
      bodyTimeoutMs,
      keepAliveTimeoutMs,
      headerLimitBytes,
      accepts: (url) => this.isBelow(url),
      serve: (request, response) => void this.answers(request, response),
      handOver: (socket) => serveByNode!.call(server, socket),
      failed: (socket, error) => server.emit('clientError', error, socket),
    };
    const plain = new PlainConnections(serving, connectionsCheckingInterval!);
    server.off('connection', serveByNode!).on('connection', (socket: Socket) => plain.add(socket));
    server.on('close', () => plain.close());
    // Node knows only of those that it reads.
    server.closeAllConnections = () => {
      for (const socket of this.connections.sockets) socket.destroy();
    };
  }

  /** There is nobody to tell where the client waits for another answer, or has got one. */
  private refuse(socket: Socket, status: ConnectionRefusal): void {
    if (this.connections.takesAnswer(socket)) refuseConnection(socket, status);
    else socket.destroy();
  }
}

function limitsOf(settings: HttpServerSettings): ServerOptions {
  const { bodyTimeoutMs, keepAliveTimeoutMs, headerLimitBytes } = settings;
  const headersTimeoutMs = Math.min(settings.headersTimeoutMs, bodyTimeoutMs);
  return {
    headersTimeout: headersTimeoutMs,
    requestTimeout: bodyTimeoutMs, // until all of the request is here: what runs then is not its business
    connectionsCheckingInterval: Math.min(MAX_CHECK_INTERVAL_MS, Math.ceil(headersTimeoutMs / 4)),
    keepAliveTimeout: keepAliveTimeoutMs,
    maxHeaderSize: headerLimitBytes,
    requireHostHeader: false, // of this we see to: Node's answer would have neither body nor request id
  };
}

/**
 * Express sets the prototypes of request and response on every request, which costs 60 µs on Node 20 unless
 * they already are the ones it wants: those of classes that the server makes them of. From Node 22 on, setting
 * is cheap and the classes cost more.
 */
function prototypesOf(application: Express): ServerOptions {
  if (HAS_CHEAP_SET_PROTOTYPE) return {};
  class ExpressRequest extends IncomingMessage {}
  class ExpressResponse extends ServerResponse {}
  application.request = inheriting(ExpressRequest.prototype, application.request);
  application.response = inheriting(ExpressResponse.prototype, application.response);
  return { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse } as unknown as ServerOptions;
}

/** Express's prototypes inherit from Node's, so that nothing is lost by putting them between. */
function inheriting<T extends object>(prototype: object, base: T): T {
  return Object.setPrototypeOf(prototype, base) as T;
}

/**
 * Waits for a turn of the event loop that takes next to no time. A connection that has come since the loop last
 * accepted some, the kernel resets when the server stops listening, although its client has been told that it
 * is there, and may have sent a POST that a load balancer must not send again.
 */
async function acceptWhatHasCome(): Promise<void> {
  for (let turn = 0; turn < QUIET_TURN_ATTEMPTS; turn++) {
    const beganAt = performance.now();
    await new Promise((resolve) => setImmediate(resolve));
    if (performance.now() - beganAt < QUIET_TURN_MS) return;
  }
}

/**
 * `Cache-Control: no-cache` is for caches (RFC 9111, section 5.2.1.4), and every `fetch` with an `If-None-Match` sends it;
 * Express would not look at the condition then.
 */
function heedConditions({ headers }: IncomingMessage): void {
  if (headers['if-none-match'] !== undefined) delete headers['cache-control'];
}

/** RFC 9112, section 3.2: one, and not more; HTTP/1.0 has none. */
function hasWrongHost({ httpVersion, rawHeaders }: IncomingMessage): boolean {
  const hosts = rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === 'host').length;
  return hosts > 1 || (httpVersion === '1.1' && hosts === 0);
}

/** A target may name the server, too (RFC 9112, section 3.2.2). */
function originForm(target: string): string {
  if (target.startsWith('/')) return target;
  const path = target.replace(ABSOLUTE_FORM, '');
  return path === target || path.startsWith('/') ? path : `/${path}`;
}

function isBelow(url: string, prefix: string): boolean {
  if (!url.startsWith(prefix)) return false;
  const next = url[prefix.length];
  return next === undefined || next === '/' || next === '?';
}

/** A percent sign that does not begin an encoded byte stands for itself, so that no path fails to be routed. */
function withDecodablePath(url: string): string {
  if (!url.includes('%')) return url;
  const end = url.indexOf('?');
  const path = end < 0 ? url : url.slice(0, end);
  const decodable = path
    .split('/')
    .map((segment) => (isDecodable(segment) ? segment : segment.replaceAll('%', '%25')))
    .join('/');
  return end < 0 ? decodable : decodable + url.slice(end);
}

/** Only who wants the body asks for it: who is refused before need not send it (RFC 9110, section 10.1.1). */
function continueWhenRead(request: IncomingMessage, response: ServerResponse): void {
  request.once('resume', () => {
    // Behind another answer Node would put it into the middle of this one. The client goes on without it.
    if (response.socket && !response.headersSent) response.writeContinue();
  });
}
