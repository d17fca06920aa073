import type { HttpResponse } from '../../http/http-exchange.js';
import type { ProxyMetrics } from '../../metrics/proxy-metrics.js';
import { CLIENT_GONE_STATUS } from '../../metrics/request-observer.js';
import type { UsageOutcome } from '../../usage/record/usage-record.js';
import { prepareRejection } from '../errors/prepared-rejection.js';
import type { ProxyErrorCode } from '../errors/proxy-error.js';
import { addsUsageOption, createWireRequest } from '../pool/targets.js';
import type { Target, Targets } from '../pool/targets.js';
import type { UpstreamHealth } from '../pool/upstream-health.js';
import type { ProxiedRequest, Responder } from '../request/proxied-request.js';
import type { UpstreamConnections } from '../wire/upstream-connections.js';
import { Attempt } from './attempt.js';
import type { AttemptListener } from './attempt.js';
import { Relay } from './relay.js';
import type { RelayListener } from './relay.js';
import type { Deadlines } from './response-timer.js';
import { generatesOutput } from './usage-record.js';
import type { RecordResult } from './usage-record.js';

/** Maximum number of upstreams for one request: trying every upstream of a large pool multiplies load and waiting time. */
export const MAX_TRIED_UPSTREAMS = 10;

/**
 * Takes one request from upstream to upstream until a response can be relayed. Failover ends with the first byte that
 * is sent to the client.
 */
export class Exchange implements Responder, AttemptListener, RelayListener {
  private readonly attempts: Attempt[] = [];
  private relay: Relay;
  /** Attempt whose response is relayed. */
  private relayed?: Attempt;

  constructor(
    private readonly request: ProxiedRequest,
    private readonly response: HttpResponse,
    private readonly targets: Targets,
    private readonly services: ExchangeServices,
  ) {
    this.relay = this.createRelay();
  }

  start(): void {
    this.request.responder = this;
    this.tryTarget(this.targets.next()!);
    this.request.computeIdAndTime();
  }

  onAccepted(attempt: Attempt): void {
    this.services.health.recordSuccess(attempt.target.id);
    this.relayResponse(attempt);
  }

  onRejected(attempt: Attempt): void {
    this.services.health.recordFailure(attempt.target.id);
    if (attempt === this.relayed) this.discardRelay();
    const next = this.targets.next();
    if (next) this.tryTarget(next);
    else this.relayLastResponse();
  }

  onBackpressure(): void {
    this.relayed?.pause();
  }

  onDrain(): void {
    this.relayed?.resume();
  }

  onStreamStart(): void {
    const { metrics } = this.services;
    metrics.streamOpened();
    this.response.once('close', () => metrics.streamClosed());
  }

  onResponseComplete(deliver: () => void): void {
    this.finish(this.outcomeOf(this.relayed!), deliver, true);
  }

  onResponseInterrupted(deliver: () => void): void {
    this.finish('interrupted', deliver, false);
  }

  onResponseClose(): void {
    if (this.request.isRecorded) return;
    for (const attempt of this.attempts) attempt.cancel();
    if (this.relayed && this.isDelivered(this.relayed))
      this.finish(this.outcomeOf(this.relayed), undefined, true);
    else this.finish('client_gone', undefined, false);
  }

  private tryTarget(target: Target): void {
    const { method, fields } = this.request;
    const { connections, streamDeadlines } = this.services;
    const deadlines = fields.stream ? streamDeadlines : this.services.deadlines;
    const body = this.request.bodyFor(target.upstreamModel, addsUsageOption(target, fields));
    const wire = createWireRequest(target, method, this.request.upstreamHeaderLines(), body);
    const attempt = new Attempt(target, wire, deadlines, connections, this);
    this.attempts.push(attempt);
    attempt.start();
  }

  private relayResponse(attempt: Attempt): void {
    this.relayed = attempt;
    for (const other of this.attempts) if (other !== attempt) other.cancel();
    this.relay.dropsUsage = addsUsageOption(attempt.target, this.request.fields);
    attempt.pipeTo(this.relay);
  }

  /** Prepares for the next upstream after a response failed before a byte was sent. */
  private discardRelay(): void {
    this.relayed = undefined;
    this.relay = this.createRelay();
  }

  private createRelay(): Relay {
    return new Relay(this.request, this.response, this);
  }

  /** Relays the last response unchanged, except a redirect: neither mintkeep nor the client may follow it. */
  private relayLastResponse(): void {
    const last = this.attempts.findLast(({ responseHeaders }) => responseHeaders !== undefined);
    if (last && last.error !== 'redirect') this.relayResponse(last);
    else this.reject(last ? 'upstream_error' : this.unreachableCode());
  }

  private unreachableCode(): ProxyErrorCode {
    return this.attempts.at(-1)!.error === 'timeout' ? 'upstream_timeout' : 'upstream_unreachable';
  }

  private reject(code: ProxyErrorCode): void {
    for (const attempt of this.attempts) attempt.cancel();
    const attempt = this.attempts.at(-1);
    const { status, send } = prepareRejection(
      this.response,
      { code },
      this.request.id,
      this.request.limitHeaders,
    );
    const { attempts, request } = this;
    this.services.finish(
      request,
      { status, outcome: 'upstream_error', attempt, attempts, isStream: false },
      send,
    );
  }

  /** Whether the client may have everything: clients close after the last event of a stream, or after an error. */
  private isDelivered({ error }: Attempt): boolean {
    const { isComplete, hasError } = this.relay.meter;
    return isComplete === true || hasError === true || error === 'stream_error';
  }

  private finish(outcome: UsageOutcome, deliver: (() => void) | undefined, isComplete: boolean): void {
    const { relayed, attempts, relay } = this;
    const attempt = relayed ?? attempts.at(-1);
    const status = outcome === 'client_gone' ? CLIENT_GONE_STATUS : attempt!.status!;
    const { isEventStream: isStream, meter } = relay;
    const mayReportUsage = generatesOutput(this.request) && outcome !== 'upstream_error';
    this.services.finish(
      this.request,
      {
        status,
        outcome,
        attempt,
        attempts,
        isStream,
        usage: mayReportUsage ? meter.readUsage(isComplete, attempt?.target.provider) : undefined,
        firstContentAt: meter.firstContentAt(),
      },
      deliver,
    );
  }

  private outcomeOf({ status, error }: Attempt): UsageOutcome {
    const isClientError = status !== null && status >= 400 && status < 500;
    if (isClientError && (error === null || error === 'status')) return 'client_error'; // see `failover_on`
    if (error !== null || status! >= 500) return 'upstream_error';
    return this.relay.meter.hasError ? 'interrupted' : 'ok';
  }
}

/** Collaborators that all exchanges share. */
export interface ExchangeServices {
  readonly connections: UpstreamConnections;
  readonly health: UpstreamHealth;
  readonly metrics: ProxyMetrics;
  readonly deadlines: Deadlines;
  /** Deadlines of requests for a stream. */
  readonly streamDeadlines: Deadlines;
  readonly finish: RecordResult;
}
