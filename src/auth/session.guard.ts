import { Injectable } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthGuard } from '@nestjs/passport';
import type { Request } from 'express';
import { bearerToken } from '../common/api/bearer-token.js';
import { IdentityProviderUnavailable, NoValidSession } from './auth.errors.js';
import { IS_PUBLIC } from './public.decorator.js';
import { SESSION_STRATEGY } from './session.strategy.js';
import { SessionsService } from './sessions.service.js';
import type { VerifiedSession } from './session-verifier.js';

/** Requires a valid session on every route that is not {@link Public}. */
@Injectable()
export class SessionGuard extends AuthGuard(SESSION_STRATEGY) {
  constructor(
    private readonly reflector: Reflector,
    private readonly sessions: SessionsService,
  ) {
    super();
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    if (this.reflector.getAllAndOverride<boolean>(IS_PUBLIC, [context.getHandler(), context.getClass()]))
      return true;
    const request = context.switchToHttp().getRequest<Request>();
    const token = bearerToken(request.headers.authorization);
    if (token === undefined) throw new NoValidSession();
    const user = this.sessions.findCached(token);
    if (user) {
      request.user = user;
      return true;
    }
    await super.canActivate(context);
    request.user = await this.sessions.accept(token, request.user as unknown as VerifiedSession);
    return true;
  }

  override handleRequest<T>(error: unknown, session: T, info: unknown): T {
    if (info instanceof IdentityProviderUnavailable) throw info;
    if (error || !session) throw new NoValidSession();
    return session;
  }
}
