import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { OrganizationsModule } from '../organizations/organizations.module.js';
import { AddressGuard } from './network/address-guard.js';
import { HostResolver } from './name-resolution/host-resolver.js';
import { UpstreamKeys } from './upstream-keys.js';
import { UpstreamProbe } from './upstream-probe.js';
import { Upstream } from './upstream.entity.js';
import { UpstreamsController } from './upstreams.controller.js';
import { UpstreamsService } from './upstreams.service.js';

/** Upstreams of owners: management, encrypted API keys, and checked connections. */
@Module({
  imports: [OrganizationsModule, TypeOrmModule.forFeature([Upstream])],
  controllers: [UpstreamsController],
  providers: [UpstreamsService, UpstreamKeys, UpstreamProbe, AddressGuard, HostResolver],
  exports: [UpstreamsService, AddressGuard],
})
export class UpstreamsModule {}
