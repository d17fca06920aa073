import type { buildConnector } from 'undici';
import type { AuthenticatedKey } from '../../keys/key-authenticator.js';
import type { ConnectionUse, LimitEnforcer } from '../../limits/limit-enforcer.js';
import type { ProxyMetrics } from '../../metrics/proxy-metrics.js';
import { requestCost } from '../../prices/request-cost.js';
import type { UsageOutcome } from '../../usage/record/usage-record.js';
import type { Admission } from '../pool/admission.js';
import type { ProxyErrorCode, RejectionReason } from '../errors/proxy-error.js';
import type { AttemptResult } from '../exchange/attempt-result.js';
import type { RecordResult } from '../exchange/usage-record.js';
import type { Target } from '../pool/targets.js';
import type { UpstreamHealth } from '../pool/upstream-health.js';
import type { BodyBudget } from '../request/body/body-budget.js';
import type { KeyLimits } from '../request/key-limits.js';
import type { ProxiedRequest } from '../request/proxied-request.js';
import { ConnectionCost } from './connection-cost.js';
import { ConnectionMeter } from './connection-meter.js';
import type { ResponseEvent } from './connection-meter.js';
import { MessageAdmission } from './message-admission.js';
import { MessageMemory } from './message-memory.js';
import { readClientMessage } from './message-models.js';
import type { KeyHolder, OpenWebSockets } from './open-web-sockets.js';
import { CloseCode } from './relay-peer.js';
import type { RelayPeer } from './relay-peer.js';
import { WebSocketRelay } from './web-socket-relay.js';
import type { EndedBy, RelayListener } from './web-socket-relay.js';

const SWITCHING_PROTOCOLS = 101;
const NORMAL_CODES = new Set<number>([CloseCode.NORMAL, CloseCode.GOING_AWAY, CloseCode.NO_STATUS]);
const RESTARTS = 'the service restarts';

/** Open WebSocket of a client at an upstream: enforces key and limits, and records the usage at its end. */
export class WebSocketSession implements RelayListener, KeyHolder {
  private readonly meter = new ConnectionMeter();
  private readonly relay: WebSocketRelay;
  private readonly target: Target;
  private readonly messages: MessageAdmission;
  private readonly cost = new ConnectionCost();
  /** Counts the responses for the limits until the connection is recorded. */
  private readonly use: ConnectionUse;
  /** Whether the connection ends with its present response, because the server stops. */
  private isEnding = false;
  /** Model of the latest response, if its messages name it. */
  private model: string | null = null;

  /** @param attempts the last one was accepted */
  constructor(
    private readonly request: ProxiedRequest,
    private readonly attempts: readonly AttemptResult[],
    private readonly services: WebSocketServices,
    client: RelayPeer,
    upstream: RelayPeer,
  ) {
    this.target = attempts.at(-1)!.target;
    this.messages = new MessageAdmission(request, this.target.rules, services.admission);
    this.use = services.enforcer.hold();
    this.relay = new WebSocketRelay(client, upstream, this, {
      heartbeatMs: services.heartbeatMs,
      memoryOf: (peer) => this.createMemory(peer),
    });
    services.open.add(this);
  }

  get secret(): string {
    return this.request.secret;
  }

  onVerification(): void {
    this.relay.pauseClient();
  }

  onKey(key: AuthenticatedKey): void {
    this.request.key = key;
    this.relay.resumeClient();
  }

  onKeyLost(code: ProxyErrorCode): void {
    this.relay.close(
      code === 'database_unavailable' ? CloseCode.TRY_AGAIN_LATER : CloseCode.POLICY_VIOLATION,
      code,
    );
  }

  /** Ends the connection, after the response that is under way. */
  onShutdown(): void {
    this.isEnding = true;
    this.endIfIdle();
  }

  private endIfIdle(): void {
    if (!this.meter.isResponding) this.relay.close(CloseCode.GOING_AWAY, RESTARTS);
  }

  allows(data: Buffer, isBinary: boolean): boolean {
    const { limits } = this.request.key;
    if (isBinary && limits?.areModelsRestricted) {
      this.relay.close(CloseCode.UNSUPPORTED_DATA, 'models are restricted: send JSON as text');
      return false;
    }
    if (this.isEnding && readClientMessage(data)?.startsResponse) return false;
    const reason = limits || this.target.rules ? this.messages.check(data) : undefined;
    if (reason) this.reject(reason);
    return reason === undefined;
  }

  onUpstreamText(data: Buffer): void {
    const event = this.meter.read(data, this.target.provider);
    if (!event) return;
    this.model = event.model ?? this.model;
    if (event.isFirst) this.onResponseStart(event);
    if (event.kind === 'end') this.countResponse(event);
    if (this.isEnding) this.endIfIdle();
  }

  onEnd(by: EndedBy, code: number, deliver: () => void): void {
    const { request, attempts, meter } = this;
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
        usage: meter.usage,
        countedCost: this.cost.total(meter.isResponding),
      },
      deliver,
    );
    this.use.release();
  }

  private outcomeOf(by: EndedBy, code: number): UsageOutcome {
    if (by === 'upstream' && !NORMAL_CODES.has(code)) return 'interrupted';
    if (!this.meter.isResponding) return 'ok';
    return by === 'client' ? 'client_gone' : 'interrupted';
  }

  /** Counts a response for limits and budgets. */
  private countResponse({ usage: { tokens } }: ResponseEvent): void {
    const { id: upstreamId, provider } = this.target;
    const { key, prices } = this.request;
    const cost = requestCost(
      tokens,
      { name: this.pricedModel, upstreamId, provider, timeMs: Date.now() },
      prices,
    );
    this.cost.add(cost);
    if (key.limits) this.use.add(key.limits, tokens.total_tokens, cost.usd);
  }

  private get pricedModel(): string | null {
    const { upstreamModel } = this.target;
    const inQuery = upstreamModel ?? this.request.fields.requestedModel?.name ?? null;
    return this.messages.queryModel === undefined ? (this.model ?? inQuery) : inQuery;
  }

  /** Admits a response like a request. The handshake admitted the first one. */
  private onResponseStart({ model }: ResponseEvent): void {
    const wrongModel = this.messages.checkResponse(model);
    if (wrongModel) return this.reject(wrongModel);
    if (this.meter.responses === 1) return;
    const { admission, keyLimits } = this.services;
    if (keyLimits.takeRequestToken(this.request.key.id, performance.now()) > 0)
      return this.reject({ code: 'rate_limited' });
    const admitted = admission.admit(this.request);
    const apply = (reason: RejectionReason | undefined) => reason && this.reject(reason);
    if (admitted instanceof Promise) admitted.then(apply, () => this.onKeyLost('database_unavailable'));
    else apply(admitted);
  }

  private reject({ code }: RejectionReason): void {
    this.relay.close(CloseCode.POLICY_VIOLATION, code);
  }

  private createMemory(peer: RelayPeer): MessageMemory {
    const { bodies } = this.services;
    return new MessageMemory(peer, bodies, this.request.key.organizationId, () =>
      this.reject({ code: 'request_timeout' }),
    );
  }
}

/** Collaborators that all WebSockets share. */
export interface WebSocketServices {
  readonly admission: Admission;
  readonly enforcer: LimitEnforcer;
  readonly health: UpstreamHealth;
  readonly metrics: ProxyMetrics;
  readonly open: OpenWebSockets;
  readonly keyLimits: KeyLimits;
  /** Memory for large messages. */
  readonly bodies: BodyBudget;
  readonly handshakeTimeoutMs: number;
  /** Interval of the pings to both peers. */
  readonly heartbeatMs: number;
  /** Connects to upstreams on behalf of an organization. */
  connectorFor(organizationId: number): buildConnector.connector;
  readonly finish: RecordResult;
}
