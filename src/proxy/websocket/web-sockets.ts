import { Injectable } from '@nestjs/common';
import type { buildConnector } from 'undici';
import type { HttpResponse } from '../../http/http-exchange.js';
import { Settings } from '../../config/settings.js';
import { LimitEnforcer } from '../../limits/limit-enforcer.js';
import { Metrics } from '../../metrics/metrics.js';
import { AddressGuard } from '../../upstreams/network/address-guard.js';
import { guardedConnector } from '../../upstreams/network/guarded-connector.js';
import { Admission } from '../pool/admission.js';
import { BodyBudget } from '../request/body/body-budget.js';
import { KeyLimits } from '../request/key-limits.js';
import type { RecordResult } from '../exchange/usage-record.js';
import type { Targets } from '../pool/targets.js';
import { UpstreamHealth } from '../pool/upstream-health.js';
import type { ProxiedRequest } from '../request/proxied-request.js';
import { OpenWebSockets } from './open-web-sockets.js';
import { WebSocketExchange } from './web-socket-exchange.js';
import type { WebSocketServices } from './web-socket-session.js';

/** Load balancers and firewalls commonly drop connections that are silent for 60 s. */
const MAX_HEARTBEAT_MS = 30_000;

/** Passes WebSockets of clients to the upstreams of the key's owner. */
@Injectable()
export class WebSockets {
  private readonly services: Omit<WebSocketServices, 'finish'>;

  constructor(
    private readonly guard: AddressGuard,
    private readonly settings: Settings,
    admission: Admission,
    enforcer: LimitEnforcer,
    health: UpstreamHealth,
    open: OpenWebSockets,
    keyLimits: KeyLimits,
    bodies: BodyBudget,
    { proxy: metrics }: Metrics,
  ) {
    const { upstreamFirstByteTimeoutMs: handshakeTimeoutMs, upstreamIdleTimeoutMs } = settings;
    const heartbeatMs = Math.min(MAX_HEARTBEAT_MS, upstreamIdleTimeoutMs / 2);
    const connectorFor = (organizationId: number) => this.connectorFor(organizationId);
    this.services = {
      admission,
      enforcer,
      health,
      open,
      keyLimits,
      bodies,
      metrics,
      handshakeTimeoutMs,
      heartbeatMs,
      connectorFor,
    };
  }

  /** Passes on an admitted handshake. @param finish records the result */
  start(request: ProxiedRequest, response: HttpResponse, targets: Targets, finish: RecordResult): void {
    new WebSocketExchange(request, response, targets, { ...this.services, finish }).start();
  }

  private connectorFor(organizationId: number): buildConnector.connector {
    const timeout = this.settings.upstreamConnectTimeoutMs;
    return guardedConnector(this.guard, { organizationId }, { timeout });
  }
}
