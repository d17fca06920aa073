import type { HttpResponse } from '../common/http-exchange.js';
import type { ProxyMetrics } from '../metrics/proxy-metrics.js';
import { Attempt } from './attempt.js';
import type { AttemptEvents, Deadlines } from './attempt.js';
import { prepareRefusal } from './prepared-refusal.js';
import type { Answering, ProxiedRequest } from './proxied-request.js';
import type { ProxyErrorCode } from './proxy-error.js';
import { Relay } from './relay.js';
import type { RelayEvents } from './relay.js';
import { asksForUsage, bodyFor, wireRequest } from './target.js';
import type { Target } from './target.js';
import type { UpstreamConnections } from './upstream-connections.js';
import type { UpstreamHealth } from './upstream-health.js';
import { takesTokens } from './usage-of.js';
import type { Ending, Finish } from './usage-of.js';

const CLIENT_GONE_STATUS = 499;

/** What an exchange needs of its surroundings. */
export interface ExchangeServices {
  readonly connections: UpstreamConnections;
  readonly health: UpstreamHealth;
  readonly metrics: ProxyMetrics;
  readonly deadlines: Deadlines;
  /** For requests that ask for a stream. */
  readonly streamDeadlines: Deadlines;
  readonly finish: Finish;
}

/**
 * One request and its answer: the upstreams one after the other, until one has an answer to pass on. From then
 * on there is no way back to another one.
 */
export class Exchange implements Answering, AttemptEvents, RelayEvents {
  private readonly attempts: Attempt[] = [];
  private relay: Relay;
  /** The one whose answer is passed on. */
  private chosen?: Attempt;

  constructor(
    private readonly request: ProxiedRequest,
    private readonly response: HttpResponse,
    private readonly targets: readonly Target[],
    private readonly services: ExchangeServices,
  ) {
    this.relay = this.newRelay();
  }

  start(): void {
    this.request.answering = this;
    this.tryNext();
    this.request.prepareAnswer();
  }

  accepted(attempt: Attempt): void {
    this.services.health.succeeded(attempt.target.id);
    this.passOn(attempt);
  }

  rejected(attempt: Attempt): void {
    this.services.health.failed(attempt.target.id);
    if (attempt === this.chosen) this.takeBack();
    if (this.attempts.length < this.targets.length) this.tryNext();
    else this.passOnTheLastAnswer();
  }

  pause(): void {
    this.chosen?.pause();
  }

  resume(): void {
    this.chosen?.resume();
  }

  streamBegan(): void {
    const { metrics } = this.services;
    metrics.streamOpened();
    this.response.once('close', () => metrics.streamClosed());
  }

  completed(deliver: () => void): void {
    this.finish(this.outcomeOf(this.chosen!), deliver, true);
  }

  interrupted(deliver: () => void): void {
    this.finish('interrupted', deliver, false);
  }

  private tryNext(): void {
    const { method, lines, fields } = this.request;
    const target = this.targets[this.attempts.length]!;
    const { connections, streamDeadlines } = this.services;
    const deadlines = fields.stream ? streamDeadlines : this.services.deadlines;
    const wire = wireRequest(target, method, lines, bodyFor(target, fields));
    const attempt = new Attempt(target, wire, deadlines, connections, this);
    this.attempts.push(attempt);
    attempt.start();
  }

  private passOn(attempt: Attempt): void {
    this.chosen = attempt;
    for (const other of this.attempts) if (other !== attempt) other.cancel();
    this.relay.dropsUsage = asksForUsage(attempt.target, this.request.fields);
    attempt.passTo(this.relay);
  }

  /** It broke off before anything of it went out. */
  private takeBack(): void {
    this.chosen = undefined;
    this.relay = this.newRelay();
  }

  private newRelay(): Relay {
    return new Relay(this.request, this.response, this);
  }

  /** As it came, whichever upstream gave it; a redirect is not ours to follow, nor the client's. */
  private passOnTheLastAnswer(): void {
    const answered = this.attempts.findLast(({ answer }) => answer !== undefined);
    if (answered && answered.error !== 'redirect') this.passOn(answered);
    else this.refuse(answered ? 'upstream_error' : this.unreachable());
  }

  private unreachable(): ProxyErrorCode {
    return this.attempts.at(-1)!.error === 'timeout' ? 'upstream_timeout' : 'upstream_unreachable';
  }

  private refuse(code: ProxyErrorCode): void {
    for (const attempt of this.attempts) attempt.cancel();
    const attempt = this.attempts.at(-1);
    const { status, send } = prepareRefusal(this.response, code, this.request.id);
    const ending: Ending = {
      ...{ status, outcome: 'upstream_error', attempt, attempts: this.attempts, isStream: false },
    };
    this.services.finish(this.request, ending, send);
  }

  closed(): void {
    if (this.request.isOver) return;
    for (const attempt of this.attempts) attempt.cancel();
    if (this.chosen && this.isSaid(this.chosen)) this.finish(this.outcomeOf(this.chosen), undefined, true);
    else this.finish('client_gone', undefined, false);
  }

  /** Who has read the last event of a stream, or an error, need not wait for the end of the transfer. */
  private isSaid({ error }: Attempt): boolean {
    const { isComplete, hasFailed } = this.relay.meter;
    return isComplete === true || hasFailed === true || error === 'stream_error';
  }

  private finish(outcome: Ending['outcome'], deliver: (() => void) | undefined, complete: boolean): void {
    const { chosen, attempts, relay } = this;
    const attempt = chosen ?? attempts.at(-1);
    const status = outcome === 'client_gone' ? CLIENT_GONE_STATUS : attempt!.status!;
    const { isEventStream: isStream, meter } = relay;
    const mayHaveTaken = takesTokens(this.request) && outcome !== 'upstream_error';
    this.services.finish(
      this.request,
      {
        status,
        outcome,
        attempt,
        attempts,
        isStream,
        reading: mayHaveTaken ? meter.read(complete, attempt?.target.provider) : undefined,
        contentAt: meter.contentAt,
      },
      deliver,
    );
  }

  private outcomeOf({ status, error }: Attempt): Ending['outcome'] {
    if (error !== null || status! >= 500) return 'upstream_error';
    if (status! >= 400) return 'client_error';
    return this.relay.meter.hasFailed ? 'interrupted' : 'ok';
  }
}
