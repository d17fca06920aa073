import { createServer, IncomingMessage, ServerResponse, STATUS_CODES } from 'node:http';
import type { RequestListener, ServerOptions } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Express } from 'express';
import { Connections } from './connections.js';
import { Cors } from './cors.js';
import { errorBody } from './error.filter.js';
import { assignRequestId, newRequestId } from './request-id.js';

const HAS_CHEAP_SET_PROTOTYPE = Number(process.versions.node.split('.')[0]) >= 22;

/**
 * How long an idle connection is kept. Longer than load balancers keep it (60 s, as a rule): it is theirs to close, as
 * they would send a request on it at the moment at which we do.
 */
const KEEP_ALIVE_MS = 75_000;

const QUIET_TURN_MS = 0.1;
const QUIET_TURN_ATTEMPTS = 1_000;

/** Whether an address is that of a proxy which `TRUST_PROXY` names. */
type TrustProxy = (address: string, hop: number) => boolean;

/** Express on an HTTP server of ours: request ids on every answer, also on those that Express never sees. */
export class HttpServerAdapter extends ExpressAdapter {
  private readonly cors: Cors;
  private connections: Connections;
  private below?: { readonly prefix: string; readonly listener: RequestListener };

  /** @param options what the settings say of it */
  constructor({ corsOrigins }: { corsOrigins: readonly string[] }) {
    super();
    this.cors = new Cors(corsOrigins);
  }

  /**
   * Hands everything below a path to a listener, before Express sees it: no guard, no filter and no request id
   * of ours is between.
   * @param prefix without a slash at the end
   */
  answerBelow(prefix: string, listener: RequestListener): void {
    this.below = { prefix, listener };
  }

  override initHttpServer(): void {
    const application = this.getInstance<Express>();
    const server = createServer(serverOptions(application));
    server.on('request', (request, response) => {
      if (this.cors.answers(request, response)) return;
      if (this.below && isBelow(request.url ?? '', this.below.prefix)) {
        this.below.listener(request, response);
        return;
      }
      assignRequestId(request, response);
      request.url = withDecodablePath(request.url ?? '/');
      application(request, response);
    });
    server.keepAliveTimeout = KEEP_ALIVE_MS;
    server.on('clientError', refuseMalformed);
    this.connections = new Connections(server);
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
}

/**
 * Express sets the prototypes of request and response on every request, which costs 60 µs on Node 20 unless
 * they already are the ones it wants: those of classes that the server makes them of. From Node 22 on, setting
 * is cheap and the classes cost more.
 */
function serverOptions(application: Express): ServerOptions {
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

function isDecodable(segment: string): boolean {
  try {
    decodeURIComponent(segment);
    return true;
  } catch {
    return false;
  }
}

/** Answers what Node's parser could not read as HTTP; there is no request object to route. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 }[error.code ?? ''] ?? 400;
  const body = JSON.stringify(errorBody('malformed request'));
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nX-Request-Id: ${newRequestId()}\r\n` +
      `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
