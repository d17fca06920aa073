import type { IncomingMessage, ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import type { AuthenticatedKey } from '../keys/key-authenticator.js';
import type { PoolUpstream } from '../upstreams/upstreams.service.js';
import type { UsageOutcome } from '../usage/usage-record.js';
import { Metrics } from '../metrics/metrics.js';
import type { ProxyMetrics } from '../metrics/proxy-metrics.js';
import { UsageRecorder } from '../usage/usage-recorder.js';
import { Exchange } from './exchange.js';
import { KeyLimits } from './key-limits.js';
import { isModelList, ModelList } from './model-list.js';
import { Pools } from './pools.js';
import type { ProxiedRequest } from './proxied-request.js';
import type { ProxyErrorCode } from './proxy-error.js';
import { readBody } from './read-body.js';
import { refuse } from './refuse.js';
import { readFields } from './request-fields.js';
import { targetAt } from './target.js';
import type { Target } from './target.js';
import { UpstreamConnections } from './upstream-connections.js';
import { UpstreamHealth } from './upstream-health.js';
import { usageOf } from './usage-of.js';
import type { Ending, MeteredRequest } from './usage-of.js';
import { linesToUpstream } from './wire-headers.js';

/** Takes a request whose key was verified to the upstreams of the key's owner, and records how it ended. */
@Injectable()
export class ProxyForwarding {
  constructor(
    private readonly pools: Pools,
    private readonly connections: UpstreamConnections,
    private readonly health: UpstreamHealth,
    private readonly models: ModelList,
    private readonly limits: KeyLimits,
    private readonly recorder: UsageRecorder,
    private readonly metrics: Metrics,
    private readonly settings: Settings,
  ) {}

  begin(request: IncomingMessage, response: ServerResponse, id: string, key: AuthenticatedKey): void {
    const { method = 'GET', url = '/v1' } = request;
    const metered = {
      ...{ id, arrivedAt: Date.now(), beganAt: performance.now(), key, method, path: pathOf(url) },
    };
    const wait = this.limits.secondsToWait(key.id, metered.beganAt);
    if (wait > 0) return this.refuse(response, metered, 'rate_limited', 'client_error', wait);
    const gone = () => this.finish(metered, { ...UNTRIED, status: 499, outcome: 'client_gone' });
    response.once('close', gone);
    readBody(request, this.settings.proxyBodyLimitBytes, {
      read: (body) => {
        response.off('close', gone);
        this.choose(request, response, metered, body);
      },
      tooLarge: () => {
        response.off('close', gone);
        this.refuse(response, metered, 'request_too_large', 'client_error');
      },
    });
  }

  private choose(
    request: IncomingMessage,
    response: ServerResponse,
    metered: MeteredRequest,
    body: Buffer,
  ): void {
    const { headers, rawHeaders, url = '/v1' } = request;
    const proxied: ProxiedRequest = {
      ...metered,
      target: url,
      lines: linesToUpstream(rawHeaders, headers.connection),
      fields: readFields(metered.path, headers, body),
    };
    const pool = this.pools.of(metered.key.organizationId);
    if (!(pool instanceof Promise)) return this.forward(proxied, response, pool);
    pool.then(
      (upstreams) => this.forward(proxied, response, upstreams),
      () => this.refuse(response, proxied, 'database_unavailable', 'no_upstream'),
    );
  }

  private forward(request: ProxiedRequest, response: ServerResponse, pool: readonly PoolUpstream[]): void {
    if (response.destroyed) {
      this.finish(request, { ...UNTRIED, status: 499, outcome: 'client_gone' });
      return;
    }
    if (request.fields.stream && !this.limits.admitsStream(request.key.id, response)) {
      return this.refuse(response, request, 'too_many_streams', 'client_error');
    }
    if (pool.length === 0) return this.refuse(response, request, 'no_upstream', 'no_upstream');
    const targets = this.targets(request, pool);
    if (targets.length === 0) return this.refuse(response, request, 'not_found', 'client_error');
    const finish = (ending: Ending, recorded?: () => void) => this.finish(request, ending, recorded);
    if (isModelList(request)) return this.models.answer(request, response, targets, finish);
    const { connections, health } = this;
    const metrics = this.metrics.proxy;
    const services = { connections, health, metrics, deadlines: this.deadlines(request), finish };
    new Exchange(request, response, targets, services).start();
  }

  private targets({ target }: ProxiedRequest, pool: readonly PoolUpstream[]): Target[] {
    const targets: Target[] = [];
    for (const upstream of this.health.order(pool)) {
      const at = targetAt(upstream, target);
      if (at) targets.push(at);
    }
    return targets;
  }

  private deadlines({ fields }: ProxiedRequest): { firstByteMs: number; idleMs: number } {
    const { upstreamFirstByteTimeoutMs, upstreamResponseTimeoutMs, upstreamIdleTimeoutMs } = this.settings;
    return {
      firstByteMs: fields.stream ? upstreamFirstByteTimeoutMs : upstreamResponseTimeoutMs,
      idleMs: upstreamIdleTimeoutMs,
    };
  }

  private refuse(
    response: ServerResponse,
    request: MeteredRequest,
    code: ProxyErrorCode,
    outcome: UsageOutcome,
    retryAfterSeconds?: number,
  ): void {
    const { status, send } = refuse(response, code, request.id, retryAfterSeconds);
    this.finish(request, { ...UNTRIED, status, outcome }, send);
  }

  private finish(request: MeteredRequest, ending: Ending, recorded: () => void = () => undefined): void {
    measure(this.metrics.proxy, request, ending);
    this.recorder.record(usageOf(request, ending), recorded);
  }
}

function measure(metrics: ProxyMetrics, { beganAt }: MeteredRequest, ending: Ending): void {
  const { attempt, attempts, outcome, contentAt } = ending;
  metrics.finished(attempt?.target ?? null, outcome);
  for (const { target, error } of attempts) metrics.attempted(target.provider, error ?? 'ok');
  if (attempt && contentAt !== undefined) {
    metrics.firstByte(attempt.target.provider, (contentAt - beganAt) / 1_000);
  }
}

const UNTRIED = { attempts: [], isStream: false } as const;

function pathOf(url: string): string {
  const end = url.indexOf('?');
  return end < 0 ? url : url.slice(0, end);
}
