import { Module } from '@nestjs/common';
import { DevSignInController } from './dev-sign-in.controller.js';
import { DevSignInService } from './dev-sign-in.service.js';

/** Stands in for an identity provider where none is set: on loopback only, never in production. */
@Module({ controllers: [DevSignInController], providers: [DevSignInService] })
export class DevSignInModule {}
