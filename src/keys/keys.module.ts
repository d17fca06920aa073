import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { OrganizationsModule } from '../organizations/organizations.module.js';
import { KeyAuthenticator } from './key-authenticator.js';
import { KeyUsage } from './key-usage.js';
import { KeysController } from './keys.controller.js';
import { KeysService } from './keys.service.js';
import { OrganizationKeysController } from './organization-keys.controller.js';
import { ProxyKey } from './proxy-key.entity.js';

/** Proxy keys: minting, revoking, and telling whose one is. */
@Module({
  imports: [OrganizationsModule, TypeOrmModule.forFeature([ProxyKey])],
  controllers: [KeysController, OrganizationKeysController],
  providers: [KeysService, KeyAuthenticator, KeyUsage],
  exports: [KeysService, KeyAuthenticator],
})
export class KeysModule {}
