import { Module } from '@nestjs/common';
import { PassportModule } from '@nestjs/passport';
import { TypeOrmModule } from '@nestjs/typeorm';
import { SessionGuard } from './session.guard.js';
import { SessionStrategy } from './session.strategy.js';
import { SessionVerifier } from './session-verifier.js';
import { SessionsService } from './sessions.service.js';
import { User } from './user.entity.js';
import { UsersService } from './users.service.js';

/** Sessions of the identity provider, and the guard that requires one on every route. */
@Module({
  imports: [PassportModule, TypeOrmModule.forFeature([User])],
  providers: [SessionVerifier, SessionStrategy, SessionsService, UsersService, SessionGuard],
  exports: [SessionGuard, SessionsService, UsersService],
})
export class AuthModule {}
