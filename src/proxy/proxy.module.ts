import { Module } from '@nestjs/common';
import type { OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { HttpServerAdapter } from '../common/http-server.js';
import { KeysModule } from '../keys/keys.module.js';
import { UpstreamsModule } from '../upstreams/upstreams.module.js';
import { UsageModule } from '../usage/usage.module.js';
import { BodyMemory } from './body-memory.js';
import { KeyLimits } from './key-limits.js';
import { ModelList } from './model-list.js';
import { Pools } from './pools.js';
import { ProxyForwarding } from './proxy-forwarding.js';
import { ProxyHandler } from './proxy.handler.js';
import { RefusedRequests } from './refused-requests.js';
import { UpstreamConnections } from './upstream-connections.js';
import { UpstreamHealth } from './upstream-health.js';

/** `/v1/*`: requests under a proxy key, to the upstreams of the key's owner. */
@Module({
  imports: [KeysModule, UpstreamsModule, UsageModule],
  providers: [
    ProxyHandler,
    ProxyForwarding,
    RefusedRequests,
    Pools,
    UpstreamConnections,
    UpstreamHealth,
    ModelList,
    KeyLimits,
    BodyMemory,
  ],
})
export class ProxyModule implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost<HttpServerAdapter>,
    private readonly handler: ProxyHandler,
  ) {}

  onModuleInit(): void {
    this.host.httpAdapter?.answerBelow('/v1', this.handler.handle);
  }
}
