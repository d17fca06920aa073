import { Module } from '@nestjs/common';
import { DevSignInController } from './dev-sign-in.controller.js';
import { DevSignInService } from './dev-sign-in.service.js';
import { OwnOriginGuard } from './own-origin.guard.js';

/** Stands in for an identity provider where none is set: on loopback only, never in production. */
@Module({ controllers: [DevSignInController], providers: [DevSignInService, OwnOriginGuard] })
export class DevSignInModule {}
