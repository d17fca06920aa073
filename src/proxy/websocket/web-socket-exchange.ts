import type { HttpResponse } from '../../http/http-exchange.js';
import { CLIENT_GONE_STATUS } from '../../metrics/request-observer.js';
import type { UsageOutcome } from '../../usage/record/usage-record.js';
import { prepareRejection } from '../errors/prepared-rejection.js';
import type { ProxyErrorCode } from '../errors/proxy-error.js';
import type { Targets } from '../pool/targets.js';
import type { ProxiedRequest, Responder } from '../request/proxied-request.js';
import { protocolsForUpstream } from '../request/proxy-credential.js';
import {
  addVary,
  mergeSetHeaders,
  requestIdHeaders,
  toClientHeaders,
  withLimitHeaders,
} from '../wire/wire-headers.js';
import { acceptClient } from './client-socket.js';
import type { RelayPeer } from './relay-peer.js';
import { UpstreamHandshake } from './upstream-handshake.js';
import type { HandshakeListener } from './upstream-handshake.js';
import { WebSocketSession } from './web-socket-session.js';
import type { WebSocketServices } from './web-socket-session.js';

/** Takes one WebSocket handshake from upstream to upstream until one accepts it. Failover ends with the handshake. */
export class WebSocketExchange implements Responder, HandshakeListener {
  private readonly attempts: UpstreamHandshake[] = [];
  private session?: WebSocketSession;

  constructor(
    private readonly request: ProxiedRequest,
    private readonly response: HttpResponse,
    private readonly targets: Targets,
    private readonly services: WebSocketServices,
  ) {}

  start(): void {
    this.request.responder = this;
    this.tryNext();
    this.request.computeIdAndTime();
  }

  onOpened(handshake: UpstreamHandshake, upstream: RelayPeer): void {
    this.services.health.recordSuccess(handshake.target.id);
    const { request, response, attempts, services } = this;
    const headers = withLimitHeaders(toClientHeaders(handshake.responseHeaders), request.limitHeaders);
    const client = acceptClient(
      response,
      upstream.socket.protocol,
      [...headers, ...requestIdHeaders(request.id)],
      () => this.session?.onShutdown(),
    );
    if (!client) return this.onResponseClose();
    this.session = new WebSocketSession(request, attempts, services, client, upstream);
    services.metrics.streamOpened();
    response.once('close', () => services.metrics.streamClosed());
  }

  onRejected(handshake: UpstreamHandshake): void {
    const { health } = this.services;
    // An upstream without WebSockets is not broken.
    if (handshake.error === null || handshake.isUnsupported) health.recordSuccess(handshake.target.id);
    else health.recordFailure(handshake.target.id);
    if (handshake.error === null) this.relayRejection(handshake);
    else if (!this.tryNext()) this.relayLast();
  }

  onResponseClose(): void {
    if (this.session || this.request.isRecorded) return;
    for (const attempt of this.attempts) attempt.cancel();
    this.finish(CLIENT_GONE_STATUS, 'client_gone', () => this.response.destroy());
  }

  private tryNext(): boolean {
    const target = this.targets.next();
    if (!target) return false;
    const { request, services } = this;
    const handshake = {
      protocols: protocolsForUpstream(request.header('sec-websocket-protocol')),
      lines: request.upstreamHeaderLines(),
    };
    const connect = services.connectorFor(target.organizationId);
    this.attempts.push(new UpstreamHandshake(target, handshake, connect, services.handshakeTimeoutMs, this));
    return true;
  }

  private relayLast(): void {
    const last = this.attempts.findLast(({ rejection }) => rejection !== undefined);
    if (last?.isUnsupported) this.reject('websockets_unsupported', 'client_error');
    else if (last && last.error !== 'redirect') this.relayRejection(last);
    else if (last) this.reject('upstream_error', 'upstream_error');
    else this.reject(this.unreachableCode(), 'upstream_error');
  }

  private unreachableCode(): ProxyErrorCode {
    return this.attempts.at(-1)!.error === 'timeout' ? 'upstream_timeout' : 'upstream_unreachable';
  }

  private relayRejection({ rejection, responseHeaders }: UpstreamHandshake): void {
    const { status, body } = rejection!;
    const { request, response } = this;
    this.finish(status, status < 500 ? 'client_error' : 'upstream_error', () => {
      if (response.destroyed) return;
      const headers = addVary(toClientHeaders(responseHeaders)).filter(
        (_, i, all) => all[i - (i % 2)] !== 'content-length',
      );
      headers.push('content-length', String(body.length), ...requestIdHeaders(request.id));
      response.writeHead(status, mergeSetHeaders(response, withLimitHeaders(headers, request.limitHeaders)));
      response.end(body, 'latin1');
    });
  }

  private reject(code: ProxyErrorCode, outcome: UsageOutcome): void {
    const { request, response } = this;
    const { status, send } = prepareRejection(response, { code }, request.id, request.limitHeaders);
    this.finish(status, outcome, send);
  }

  private finish(status: number, outcome: UsageOutcome, deliver: () => void): void {
    const { request, attempts } = this;
    const attempt = attempts.at(-1);
    this.services.finish(request, { status, outcome, attempt, attempts, isStream: false }, deliver);
  }
}
