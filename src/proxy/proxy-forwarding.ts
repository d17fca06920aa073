import { Injectable, Logger } from '@nestjs/common';
import type { HttpRequest, HttpResponse } from '../http/http-exchange.js';
import { Settings } from '../config/settings.js';
import { KeyAuthenticator } from '../keys/key-authenticator.js';
import type { AuthenticatedKey } from '../keys/key-authenticator.js';
import type { PoolUpstream } from '../upstreams/upstreams.service.js';
import { Metrics } from '../metrics/metrics.js';
import { Admission } from './pool/admission.js';
import { BodyBudget } from './request/body/body-budget.js';
import { Exchange, MAX_TRIED_UPSTREAMS } from './exchange/exchange.js';
import type { ExchangeServices } from './exchange/exchange.js';
import { ResultRecorder } from './exchange/result-recorder.js';
import { KeyLimits } from './request/key-limits.js';
import { isLoop, LOOP_HEADER, MAX_LIST_PASSES, MAX_PASSES } from './request/loop-detection.js';
import { respondWithModel } from './models/model-entry.js';
import { isModelList, ModelList } from './models/model-list.js';
import { Pools } from './pool/pools.js';
import type { Pool } from './pool/pools.js';
import { ProxiedRequest } from './request/proxied-request.js';
import { findProxyKey } from './request/proxy-credential.js';
import type { ProxyErrorCode, RejectionReason } from './errors/proxy-error.js';
import { readBody } from './request/body/read-body.js';
import { parseFields } from './request/model/request-fields.js';
import { RequestsInFlight } from './request/requests-in-flight.js';
import { Targets } from './pool/targets.js';
import { UpstreamConnections } from './wire/upstream-connections.js';
import { UpstreamHealth } from './pool/upstream-health.js';
import { handshakeFields, isHandshake, wantsWebSocket } from './websocket/handshake.js';
import { WebSockets } from './websocket/web-sockets.js';

/** Forwards a request with a verified key to the upstreams of the key's owner, and records its usage. */
@Injectable()
export class ProxyForwarding {
  private readonly logger = new Logger(ProxyForwarding.name);
  private readonly services: ExchangeServices;

  constructor(
    private readonly pools: Pools,
    connections: UpstreamConnections,
    private readonly health: UpstreamHealth,
    private readonly models: ModelList,
    private readonly webSockets: WebSockets,
    private readonly admission: Admission,
    private readonly limits: KeyLimits,
    private readonly inFlight: RequestsInFlight,
    private readonly bodies: BodyBudget,
    private readonly keys: KeyAuthenticator,
    private readonly results: ResultRecorder,
    metrics: Metrics,
    private readonly settings: Settings,
  ) {
    const idleMs = settings.upstreamIdleTimeoutMs;
    this.services = {
      connections,
      health,
      metrics: metrics.proxy,
      deadlines: { firstByteMs: settings.upstreamResponseTimeoutMs, idleMs },
      streamDeadlines: { firstByteMs: settings.upstreamFirstByteTimeoutMs, idleMs },
      finish: results.record,
    };
  }

  /** @param keyVersion `KeyAuthenticator.version` before the key was verified */
  begin(message: HttpRequest, response: HttpResponse, key: AuthenticatedKey, keyVersion: number): void {
    const request = new ProxiedRequest(key, message);
    if (response.destroyed) return this.results.recordClientGone(request);
    if (!this.inFlight.tryAcquire(key.organizationId, response)) {
      return this.results.reject(response, request, 'rate_limited', 'client_error');
    }
    const retryAfterSeconds = this.limits.takeRequestToken(key.id, request.beganAt);
    if (retryAfterSeconds > 0)
      return this.results.reject(
        response,
        request,
        { code: 'rate_limited', retryAfterSeconds },
        'client_error',
      );
    const code = findRejection(request, message);
    if (code) return this.results.reject(response, request, code, 'client_error');
    response.on('close', () => {
      if (request.responder) request.responder.onResponseClose();
      else this.results.recordClientGone(request);
      request.releaseBody();
    });
    const { proxyBodyLimitBytes: limitBytes } = this.settings;
    readBody(
      message,
      { limitBytes, budget: this.bodies, ownerId: key.organizationId },
      {
        onRead: (body, held) => {
          request.fields = wantsWebSocket(message)
            ? handshakeFields(request.target)
            : parseFields(request.path, message.headers, body);
          if (held) request.holdBody(held);
          if (body.length === 0 || this.keys.isStillValid(key, keyVersion)) this.loadPool(request, response);
          else this.reauthenticate(request, response, findProxyKey(message.headers)!);
        },
        onTooLarge: () => this.results.reject(response, request, 'request_too_large', 'client_error'),
        onTooSlow: () => this.results.reject(response, request, 'request_timeout', 'client_error'),
      },
    );
  }

  /** Verifies the key again, because it may have been revoked while the body arrived. */
  private reauthenticate(request: ProxiedRequest, response: HttpResponse, secret: string): void {
    const onKey = (key: AuthenticatedKey | undefined) => {
      if (!key) return this.results.reject(response, request, 'invalid_proxy_key', 'client_error');
      request.key = key; // its limits may be others
      this.loadPool(request, response);
    };
    const key = this.keys.authenticate(secret);
    if (!(key instanceof Promise)) return onKey(key);
    key.then(onKey, () => this.results.reject(response, request, 'database_unavailable', 'no_upstream'));
  }

  private loadPool(request: ProxiedRequest, response: HttpResponse): void {
    const pool = this.pools.get(request.key);
    if (!(pool instanceof Promise)) return this.route(request, response, pool);
    pool.then(
      (loaded) => this.route(request, response, loaded),
      () => this.results.reject(response, request, 'database_unavailable', 'no_upstream'),
    );
  }

  /** Finds the upstreams for the model of a request, and admits the request within its limits. */
  private route(request: ProxiedRequest, response: HttpResponse, pool: Pool): void {
    if (response.destroyed) return this.results.recordClientGone(request);
    request.prices = pool.prices;
    const wrongModel = this.admission.checkModel(request, pool);
    if (wrongModel) return this.results.reject(response, request, wrongModel, 'client_error');
    if (request.fields.stream && !this.limits.tryOpenStream(request.key.id, response)) {
      return this.results.reject(response, request, 'too_many_streams', 'client_error');
    }
    if (pool.upstreams.length === 0)
      return this.results.reject(response, request, 'no_upstream', 'no_upstream');
    const upstreams = this.admission.route(request, pool);
    if ('code' in upstreams) return this.results.reject(response, request, upstreams, 'client_error');
    if (!request.requestTarget) return this.results.reject(response, request, 'not_found', 'client_error');
    const admitted = this.admission.admit(request);
    if (!(admitted instanceof Promise)) return this.forward(request, response, upstreams, admitted);
    admitted.then(
      (rejection) => this.forward(request, response, upstreams, rejection),
      (error: unknown) => {
        this.logger.error({ requestId: request.id, err: error }, 'unexpected failure');
        response.destroy();
      },
    );
  }

  private forward(
    request: ProxiedRequest,
    response: HttpResponse,
    upstreams: readonly PoolUpstream[],
    rejection: RejectionReason | undefined,
  ): void {
    if (rejection) return this.results.reject(response, request, rejection, 'client_error');
    if (response.destroyed) return this.results.recordClientGone(request);
    const inOrder = this.health.sort(upstreams);
    const isWebSocket = wantsWebSocket(response.req);
    if (!isWebSocket && isModelList(request))
      return this.models.respond(request, response, inOrder, this.results.record);
    if (!isWebSocket && respondWithModel(request, response, inOrder, this.results.record)) return;
    const targets = Targets.create(inOrder, request, MAX_TRIED_UPSTREAMS)!; // the target was checked before
    if (isWebSocket) return this.webSockets.start(request, response, targets, this.results.record);
    new Exchange(request, response, targets, this.services).start();
  }
}

/** Finds a reason to reject a request before its body is read. */
function findRejection(request: ProxiedRequest, message: HttpRequest): ProxyErrorCode | undefined {
  // RFC 9110, section 9.3.8: the response to TRACE contains the request, and thus the key of the upstream.
  if (request.method === 'TRACE') return 'method_not_allowed';
  // Clients fall back to HTTP on a 426, but retry on an upstream's response to a bare GET.
  if (wantsWebSocket(message) && !isHandshake(message)) return 'websockets_unsupported';
  const limit = isModelList(request) ? MAX_LIST_PASSES : MAX_PASSES;
  return isLoop(message.headers[LOOP_HEADER], limit) ? 'loop_detected' : undefined;
}
