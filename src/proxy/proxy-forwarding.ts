import { Injectable } from '@nestjs/common';
import type { HttpRequest, HttpResponse } from '../common/http-exchange.js';
import { Settings } from '../config/settings.js';
import type { AuthenticatedKey } from '../keys/key-authenticator.js';
import type { PoolUpstream } from '../upstreams/upstreams.service.js';
import type { UsageOutcome } from '../usage/usage-record.js';
import { Metrics } from '../metrics/metrics.js';
import type { ProxyMetrics } from '../metrics/proxy-metrics.js';
import { UsageRecorder } from '../usage/usage-recorder.js';
import { BodyMemory } from './body-memory.js';
import { Exchange } from './exchange.js';
import type { ExchangeServices } from './exchange.js';
import { KeyLimits } from './key-limits.js';
import { isLoop, LIST_PASSES_LIMIT, LOOP_HEADER, PASSES_LIMIT } from './loops.js';
import { isModelList, ModelList } from './model-list.js';
import { Pools } from './pools.js';
import { prepareRefusal } from './prepared-refusal.js';
import { ProxiedRequest } from './proxied-request.js';
import type { ProxyErrorCode } from './proxy-error.js';
import { readBody } from './read-body.js';
import { readFields } from './request-fields.js';
import { targetAt } from './target.js';
import type { Target } from './target.js';
import { UpstreamConnections } from './upstream-connections.js';
import { UpstreamHealth } from './upstream-health.js';
import { usageOf } from './usage-of.js';
import type { Ending } from './usage-of.js';

/** Takes a request whose key was verified to the upstreams of the key's owner, and records how it ended. */
@Injectable()
export class ProxyForwarding {
  private readonly services: ExchangeServices;

  constructor(
    private readonly pools: Pools,
    connections: UpstreamConnections,
    private readonly health: UpstreamHealth,
    private readonly models: ModelList,
    private readonly limits: KeyLimits,
    private readonly bodies: BodyMemory,
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
      finish: this.finish,
    };
  }

  begin(message: HttpRequest, response: HttpResponse, key: AuthenticatedKey): void {
    const request = new ProxiedRequest(key, message);
    const wait = this.limits.secondsToWait(key.id, request.beganAt);
    if (wait > 0) return this.refuse(response, request, 'rate_limited', 'client_error', wait);
    const refusal = refusalOf(request, message);
    if (refusal) return this.refuse(response, request, refusal, 'client_error');
    response.on('close', () => {
      if (request.answering) request.answering.closed();
      else this.finish(request, CLIENT_GONE);
      request.dropBody();
    });
    readBody(message, this.settings.proxyBodyLimitBytes, this.bodies, {
      read: (body, held) => {
        request.fields = readFields(request.path, message.headers, body);
        if (held) request.keepBody(held);
        this.choose(request, response);
      },
      tooLarge: () => this.refuse(response, request, 'request_too_large', 'client_error'),
    });
  }

  private choose(request: ProxiedRequest, response: HttpResponse): void {
    const pool = this.pools.of(request.key);
    if (!(pool instanceof Promise)) return this.forward(request, response, pool);
    pool.then(
      (upstreams) => this.forward(request, response, upstreams),
      () => this.refuse(response, request, 'database_unavailable', 'no_upstream'),
    );
  }

  private forward(request: ProxiedRequest, response: HttpResponse, pool: readonly PoolUpstream[]): void {
    if (response.destroyed) return this.finish(request, CLIENT_GONE);
    if (request.fields.stream && !this.limits.admitsStream(request.key.id, response)) {
      return this.refuse(response, request, 'too_many_streams', 'client_error');
    }
    if (pool.length === 0) return this.refuse(response, request, 'no_upstream', 'no_upstream');
    const targets = this.targets(request, pool);
    if (targets.length === 0) return this.refuse(response, request, 'not_found', 'client_error');
    if (isModelList(request)) this.models.answer(request, response, targets, this.finish);
    else new Exchange(request, response, targets, this.services).start();
  }

  private targets({ target }: ProxiedRequest, pool: readonly PoolUpstream[]): Target[] {
    const targets: Target[] = [];
    for (const upstream of this.health.order(pool)) {
      const at = targetAt(upstream, target);
      if (at) targets.push(at);
    }
    return targets;
  }

  private refuse(
    response: HttpResponse,
    request: ProxiedRequest,
    code: ProxyErrorCode,
    outcome: UsageOutcome,
    retryAfterSeconds?: number,
  ): void {
    const { status, send } = prepareRefusal(response, code, request.id, retryAfterSeconds);
    this.finish(request, { ...UNTRIED, status, outcome }, send);
  }

  /** Records a request once, however often its end is told. */
  private readonly finish = (
    request: ProxiedRequest,
    ending: Ending,
    recorded: () => void = nothing,
  ): void => {
    if (request.isOver) return;
    request.isOver = true;
    this.recorder.record(usageOf(request, ending), recorded);
    measure(this.metrics.proxy, request, ending); // afterwards: no client waits for it
  };
}

/** What no upstream is to get. */
function refusalOf(request: ProxiedRequest, { headers }: HttpRequest): ProxyErrorCode | undefined {
  // RFC 9110, section 9.3.8: an answer to it is the request itself.
  if (request.method === 'TRACE') return 'method_not_allowed';
  // RFC 6455, section 4.1. Clients fall back to HTTP on a 426, and try again on what an upstream says to a bare GET.
  if (headers['sec-websocket-key'] !== undefined) return 'websockets_unsupported';
  const limit = isModelList(request) ? LIST_PASSES_LIMIT : PASSES_LIMIT;
  return isLoop(headers[LOOP_HEADER], limit) ? 'loop_detected' : undefined;
}

function measure(metrics: ProxyMetrics, { beganAt }: ProxiedRequest, ending: Ending): void {
  const { attempt, attempts, outcome, contentAt } = ending;
  metrics.finished(attempt?.target ?? null, outcome);
  for (const { target, error } of attempts) metrics.attempted(target.provider, error ?? 'ok');
  if (attempt && contentAt !== undefined) {
    metrics.firstByte(attempt.target.provider, (contentAt - beganAt) / 1_000);
  }
}

const UNTRIED = { attempts: [], isStream: false } as const;
const CLIENT_GONE: Ending = { ...UNTRIED, status: 499, outcome: 'client_gone' };

function nothing(): void {
  // for requests whose client has left
}
