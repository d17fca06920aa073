import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { LimitsModule } from '../limits/limits.module.js';
import { OrganizationsModule } from '../organizations/organizations.module.js';
import { KeyAuthenticator } from './key-authenticator.js';
import { KeyLimitsController, KeyLimitsGuard } from './key-limits.controller.js';
import { KeyLimitsService } from './key-limits.service.js';
import { KeyHoldings } from './key-holdings.js';
import { KeyUsage } from './key-usage.js';
import { KeysController } from './keys.controller.js';
import { KeysService } from './keys.service.js';
import { ProxyKey } from './proxy-key.entity.js';

/** Proxy keys: minting, revocation and authentication. */
@Module({
  imports: [OrganizationsModule, LimitsModule, TypeOrmModule.forFeature([ProxyKey])],
  controllers: [KeysController, KeyLimitsController],
  providers: [KeysService, KeyAuthenticator, KeyHoldings, KeyUsage, KeyLimitsService, KeyLimitsGuard],
  exports: [KeysService, KeyAuthenticator, KeyHoldings, KeyLimitsService],
})
export class KeysModule {}
