import { Injectable, Logger } from '@nestjs/common';
import type { HttpRequest, HttpResponse } from '../http/http-exchange.js';
import { Settings } from '../config/settings.js';
import { KeyAuthenticator } from '../keys/key-authenticator.js';
import type { AuthenticatedKey } from '../keys/key-authenticator.js';
import { parseRequestTarget } from '../upstreams/target-url.js';
import type { PoolUpstream } from '../upstreams/upstreams.service.js';
import type { UsageOutcome } from '../usage/record/usage-record.js';
import { Metrics } from '../metrics/metrics.js';
import type { ProxyMetrics } from '../metrics/proxy-metrics.js';
import { CLIENT_GONE_STATUS } from '../metrics/request-observer.js';
import { UsageRecorder } from '../usage/write/usage-recorder.js';
import { LimitEnforcer } from '../limits/limit-enforcer.js';
import { Admission } from './pool/admission.js';
import { BodyBudget } from './request/body/body-budget.js';
import { Exchange, MAX_TRIED_UPSTREAMS } from './exchange/exchange.js';
import type { ExchangeServices } from './exchange/exchange.js';
import { KeyLimits } from './request/key-limits.js';
import { isLoop, LOOP_HEADER, MAX_LIST_PASSES, MAX_PASSES } from './request/loop-detection.js';
import { respondWithModel } from './models/model-entry.js';
import { isModelList, ModelList } from './models/model-list.js';
import { Pools } from './pool/pools.js';
import type { Pool } from './pool/pools.js';
import { prepareRejection } from './errors/prepared-rejection.js';
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
import { toUsageRecord } from './exchange/usage-record.js';
import type { ExchangeResult } from './exchange/usage-record.js';

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
    private readonly enforcer: LimitEnforcer,
    private readonly limits: KeyLimits,
    private readonly inFlight: RequestsInFlight,
    private readonly bodies: BodyBudget,
    private readonly keys: KeyAuthenticator,
    private readonly recorder: UsageRecorder,
    private readonly metrics: Metrics,
    private readonly settings: Settings,
  ) {
    const idleMs = settings.upstreamIdleTimeoutMs;
    this.services = {
      connections,
      health,
      metrics: metrics.proxy,
      deadlines: { firstByteMs: settings.upstreamResponseTimeoutMs, idleMs },
      streamDeadlines: { firstByteMs: settings.upstreamFirstByteTimeoutMs, idleMs },
      finish: this.recordResult,
    };
  }

  /** @param keyVersion `KeyAuthenticator.version` before the key was verified */
  begin(message: HttpRequest, response: HttpResponse, key: AuthenticatedKey, keyVersion: number): void {
    const request = new ProxiedRequest(key, message);
    if (response.destroyed) return this.recordResult(request, CLIENT_GONE);
    if (!this.inFlight.tryAcquire(key.organizationId, response)) {
      return this.reject(response, request, 'rate_limited', 'client_error');
    }
    const retryAfterSeconds = this.limits.takeRequestToken(key.id, request.beganAt);
    if (retryAfterSeconds > 0)
      return this.reject(response, request, { code: 'rate_limited', retryAfterSeconds }, 'client_error');
    const code = findRejection(request, message);
    if (code) return this.reject(response, request, code, 'client_error');
    response.on('close', () => {
      if (request.responder) request.responder.onResponseClose();
      else this.recordResult(request, CLIENT_GONE);
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
        onTooLarge: () => this.reject(response, request, 'request_too_large', 'client_error'),
        onTooSlow: () => this.reject(response, request, 'request_timeout', 'client_error'),
      },
    );
  }

  /** Verifies the key again, because it may have been revoked while the body arrived. */
  private reauthenticate(request: ProxiedRequest, response: HttpResponse, secret: string): void {
    const onKey = (key: AuthenticatedKey | undefined) => {
      if (!key) return this.reject(response, request, 'invalid_proxy_key', 'client_error');
      request.key = key; // its limits may be others
      this.loadPool(request, response);
    };
    const key = this.keys.authenticate(secret);
    if (!(key instanceof Promise)) return onKey(key);
    key.then(onKey, () => this.reject(response, request, 'database_unavailable', 'no_upstream'));
  }

  private loadPool(request: ProxiedRequest, response: HttpResponse): void {
    const pool = this.pools.get(request.key);
    if (!(pool instanceof Promise)) return this.route(request, response, pool);
    pool.then(
      (loaded) => this.route(request, response, loaded),
      () => this.reject(response, request, 'database_unavailable', 'no_upstream'),
    );
  }

  /** Finds the upstreams for the model of a request, and admits the request within its limits. */
  private route(request: ProxiedRequest, response: HttpResponse, pool: Pool): void {
    if (response.destroyed) return this.recordResult(request, CLIENT_GONE);
    request.prices = pool.prices;
    const wrongModel = this.admission.checkModel(request, pool);
    if (wrongModel) return this.reject(response, request, wrongModel, 'client_error');
    if (request.fields.stream && !this.limits.tryOpenStream(request.key.id, response)) {
      return this.reject(response, request, 'too_many_streams', 'client_error');
    }
    if (pool.upstreams.length === 0) return this.reject(response, request, 'no_upstream', 'no_upstream');
    const upstreams = this.admission.route(request, pool);
    if ('code' in upstreams) return this.reject(response, request, upstreams, 'client_error');
    if (!parseRequestTarget(request.target))
      return this.reject(response, request, 'not_found', 'client_error');
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
    if (rejection) return this.reject(response, request, rejection, 'client_error');
    if (response.destroyed) return this.recordResult(request, CLIENT_GONE);
    const inOrder = this.health.sort(upstreams);
    const isWebSocket = wantsWebSocket(response.req);
    if (!isWebSocket && isModelList(request))
      return this.models.respond(request, response, inOrder, this.recordResult);
    if (!isWebSocket && respondWithModel(request, response, inOrder, this.recordResult)) return;
    const targets = Targets.create(inOrder, request, MAX_TRIED_UPSTREAMS)!; // the target was parsed before
    if (isWebSocket) return this.webSockets.start(request, response, targets, this.recordResult);
    new Exchange(request, response, targets, this.services).start();
  }

  private reject(
    response: HttpResponse,
    request: ProxiedRequest,
    reason: ProxyErrorCode | RejectionReason,
    outcome: UsageOutcome,
  ): void {
    request.releaseBody();
    const rejection = typeof reason === 'string' ? { code: reason } : reason;
    this.admission.addLimitHeaders(request);
    const { status, send } = prepareRejection(response, rejection, request.id, request.limitHeaders);
    this.recordResult(request, { ...UNTRIED, status, outcome }, send);
  }

  /** Records a request. Later calls for the same request have no effect. */
  private readonly recordResult = (
    request: ProxiedRequest,
    result: ExchangeResult,
    onRecorded: () => void = noop,
  ): void => {
    if (request.isRecorded) return;
    request.isRecorded = true;
    const record = toUsageRecord(request, result);
    this.recorder.record(record, onRecorded);
    if (request.key.limits && !result.countedCost)
      this.enforcer.record(request.key.limits, record.total_tokens, record.cost_usd);
    updateMetrics(this.metrics.proxy, request, result); // last, so that no client waits for it
  };
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

function updateMetrics(metrics: ProxyMetrics, { beganAt }: ProxiedRequest, result: ExchangeResult): void {
  const { attempt, attempts, outcome, firstContentAt } = result;
  metrics.finished(attempt?.target ?? null, outcome);
  for (const { target, error } of attempts) metrics.attempted(target.provider, error ?? 'ok');
  if (attempt && firstContentAt !== undefined) {
    metrics.firstByte(attempt.target.provider, (firstContentAt - beganAt) / 1_000);
  }
}

const UNTRIED = { attempts: [], isStream: false } as const;
const CLIENT_GONE: ExchangeResult = { ...UNTRIED, status: CLIENT_GONE_STATUS, outcome: 'client_gone' };

function noop(): void {
  // the client has closed the connection: there is nothing to send
}
