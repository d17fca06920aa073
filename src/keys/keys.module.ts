import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { OrganizationsModule } from '../organizations/organizations.module.js';
import { KeyAuthenticator } from './key-authenticator.js';
import { KeyUsage } from './key-usage.js';
import { KeysController } from './keys.controller.js';
import { KeysService } from './keys.service.js';
import { ProxyKey } from './proxy-key.entity.js';

/** Proxy keys: minting, revocation and authentication. */
@Module({
  imports: [OrganizationsModule, TypeOrmModule.forFeature([ProxyKey])],
  controllers: [KeysController],
  providers: [KeysService, KeyAuthenticator, KeyUsage],
  exports: [KeysService, KeyAuthenticator],
})
export class KeysModule {}
