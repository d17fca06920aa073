import { Module } from '@nestjs/common';
import type { OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { HttpServerAdapter } from '../http/server/http-server.js';
import { KeysModule } from '../keys/keys.module.js';
import { UpstreamsModule } from '../upstreams/upstreams.module.js';
import { LimitsModule } from '../limits/limits.module.js';
import { PricesModule } from '../prices/prices.module.js';
import { UsageModule } from '../usage/usage.module.js';
import { Admission } from './pool/admission.js';
import { ResultRecorder } from './exchange/result-recorder.js';
import { BodyBudget } from './request/body/body-budget.js';
import { KeyLimits } from './request/key-limits.js';
import { ModelList } from './models/model-list.js';
import { Pools } from './pool/pools.js';
import { ProxyForwarding } from './proxy-forwarding.js';
import { ProxyHandler } from './proxy.handler.js';
import { RejectedRequests } from './errors/rejected-requests.js';
import { RequestsInFlight } from './request/requests-in-flight.js';
import { UpstreamConnections } from './wire/upstream-connections.js';
import { OpenWebSockets } from './websocket/open-web-sockets.js';
import { WebSockets } from './websocket/web-sockets.js';
import { UpstreamHealth } from './pool/upstream-health.js';

/** Reverse proxy below `/v1`: forwards requests with a proxy key to the upstreams of the key's owner. */
@Module({
  imports: [KeysModule, UpstreamsModule, UsageModule, LimitsModule, PricesModule],
  providers: [
    ProxyHandler,
    ProxyForwarding,
    Admission,
    ResultRecorder,
    RejectedRequests,
    Pools,
    UpstreamConnections,
    UpstreamHealth,
    ModelList,
    KeyLimits,
    BodyBudget,
    RequestsInFlight,
    OpenWebSockets,
    WebSockets,
  ],
})
export class ProxyModule implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost<HttpServerAdapter>,
    private readonly handler: ProxyHandler,
  ) {}

  onModuleInit(): void {
    this.host.httpAdapter?.handleBelow('/v1', this.handler.handle);
  }
}
