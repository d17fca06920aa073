import { Module } from '@nestjs/common';
import { DevSignInController } from './dev-sign-in.controller.js';
import { DevSignInService } from './dev-sign-in.service.js';

/** Replaces an identity provider if none is configured. It works on loopback only, and never in production. */
@Module({ controllers: [DevSignInController], providers: [DevSignInService] })
export class DevSignInModule {}
