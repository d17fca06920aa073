import type { WebSocket } from 'ws';
import type { buildConnector } from 'undici';
import type { AuthenticatedKey } from '../../keys/key-authenticator.js';
import type { LimitEnforcer } from '../../limits/limit-enforcer.js';
import type { ProxyMetrics } from '../../metrics/proxy-metrics.js';
import { NO_COST, requestCost } from '../../prices/request-cost.js';
import type { RequestCost } from '../../prices/request-cost.js';
import type { UsageOutcome } from '../../usage/record/usage-record.js';
import type { Admission } from '../pool/admission.js';
import type { ProxyErrorCode, RejectionReason } from '../errors/proxy-error.js';
import type { AttemptResult } from '../exchange/attempt.js';
import type { RecordResult } from '../exchange/usage-record.js';
import type { Target } from '../pool/targets.js';
import type { UpstreamHealth } from '../pool/upstream-health.js';
import type { ProxiedRequest } from '../request/proxied-request.js';
import { ConnectionMeter } from './connection-meter.js';
import type { ResponseEvent } from './connection-meter.js';
import { findMessageModels } from './message-models.js';
import type { KeyHolder, OpenWebSockets } from './open-web-sockets.js';
import {
  GOING_AWAY,
  POLICY_VIOLATION,
  TRY_AGAIN_LATER,
  UNSUPPORTED_DATA,
  WebSocketRelay,
} from './web-socket-relay.js';
import type { EndedBy, RelayListener } from './web-socket-relay.js';

const SWITCHING_PROTOCOLS = 101;
const NORMAL_CODES = new Set([1_000, 1_001, 1_005]);
const DECIMALS = 1e10;

/** Open WebSocket of a client at an upstream: enforces key and limits, and records the usage at its end. */
export class WebSocketSession implements RelayListener, KeyHolder {
  private readonly meter = new ConnectionMeter();
  private readonly relay: WebSocketRelay;
  private readonly target: Target;
  private cost: RequestCost = NO_COST;
  /** Count the responses for the limits until the connection is recorded. */
  private readonly releases: (() => void)[] = [];
  /** Model of the latest response, if its messages name it. */
  private model: string | null = null;

  /** @param attempts the last one was accepted */
  constructor(
    private readonly request: ProxiedRequest,
    private readonly attempts: readonly AttemptResult[],
    private readonly services: WebSocketServices,
    client: WebSocket,
    upstream: WebSocket,
  ) {
    this.target = attempts.at(-1)!.target;
    this.relay = new WebSocketRelay(client, upstream, this, services.heartbeatMs);
    services.open.add(this);
  }

  get secret(): string {
    return this.request.secret;
  }

  onKey(key: AuthenticatedKey): void {
    this.request.key = key;
  }

  onKeyLost(code: ProxyErrorCode): void {
    this.relay.close(code === 'database_unavailable' ? TRY_AGAIN_LATER : POLICY_VIOLATION, code);
  }

  onShutdown(): void {
    this.relay.close(GOING_AWAY, 'the service restarts');
  }

  allows(data: Buffer, isBinary: boolean): boolean {
    const { limits } = this.request.key;
    if (!limits?.restrictModels) return true;
    if (isBinary) {
      this.relay.close(UNSUPPORTED_DATA, 'models are restricted: send JSON as text');
      return false;
    }
    const models = findMessageModels(data.toString('utf8'));
    if (!models) return this.refuse({ code: 'invalid_request' });
    const { names, startsResponse } = models;
    const isUnnamed = startsResponse && names.length === 0 && !this.request.fields.requestedModel;
    for (const name of isUnnamed ? [undefined] : names) {
      const reason = this.services.admission.checkName(name, limits);
      if (reason) return this.refuse(reason);
    }
    return true;
  }

  onUpstreamText(data: Buffer): void {
    const event = this.meter.read(data, this.target.provider);
    if (!event) return;
    this.model = event.model ?? this.model;
    if (event.kind === 'end') this.countResponse(event);
    else if (this.meter.responses > 1) this.admitResponse();
  }

  onEnd(by: EndedBy, code: number, deliver: () => void): void {
    const { request, attempts, cost } = this;
    this.services.open.remove(this);
    request.fields = { ...request.fields, model: request.fields.model ?? this.model };
    this.services.finish(
      request,
      {
        status: SWITCHING_PROTOCOLS,
        outcome: this.outcomeOf(by, code),
        attempt: attempts.at(-1),
        attempts,
        isStream: true,
        usage: this.meter.usage,
        countedCost: cost,
      },
      deliver,
    );
    for (const release of this.releases) release();
  }

  private outcomeOf(by: EndedBy, code: number): UsageOutcome {
    if (by === 'upstream' && !NORMAL_CODES.has(code)) return 'interrupted';
    if (!this.meter.isResponding) return 'ok';
    return by === 'client' ? 'client_gone' : 'interrupted';
  }

  /** Counts a response for limits and budgets. */
  private countResponse({ usage: { tokens } }: ResponseEvent): void {
    const { upstreamModel, id: upstreamId, provider } = this.target;
    const { fields, key, prices } = this.request;
    const name = upstreamModel ?? fields.requestedModel?.name ?? this.model;
    const cost = requestCost(tokens, { name, upstreamId, provider, timeMs: Date.now() }, prices);
    this.cost = addCosts(this.cost, cost);
    if (key.limits)
      this.releases.push(this.services.enforcer.hold(key.limits, tokens.total_tokens, cost.usd));
  }

  /** Admits a response like a request. The handshake admitted the first one. */
  private admitResponse(): void {
    const admitted = this.services.admission.admit(this.request);
    const apply = (reason: RejectionReason | undefined) => void (reason && this.refuse(reason));
    if (admitted instanceof Promise) admitted.then(apply, () => this.onKeyLost('database_unavailable'));
    else apply(admitted);
  }

  private refuse({ code }: RejectionReason): false {
    this.relay.close(POLICY_VIOLATION, code);
    return false;
  }
}

/** Collaborators that all WebSockets share. */
export interface WebSocketServices {
  readonly admission: Admission;
  readonly enforcer: LimitEnforcer;
  readonly health: UpstreamHealth;
  readonly metrics: ProxyMetrics;
  readonly open: OpenWebSockets;
  readonly handshakeTimeoutMs: number;
  /** Interval of the pings to both peers. */
  readonly heartbeatMs: number;
  /** Connects to upstreams on behalf of an organization. */
  connectorFor(organizationId: number): buildConnector.connector;
  readonly finish: RecordResult;
}

/** Adds the cost of a further response. The sum is unknown if one of the costs is. */
function addCosts(sum: RequestCost, next: RequestCost): RequestCost {
  const usd =
    sum.usd === null || next.usd === null ? null : Math.round((sum.usd + next.usd) * DECIMALS) / DECIMALS;
  return { usd, source: next.source === 'none' ? sum.source : next.source };
}
