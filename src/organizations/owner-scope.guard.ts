import { Injectable } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { sessionUserOf } from '../auth/session-user.js';
import { assertPathIds } from '../common/path-id.js';
import { ScopesService } from './scopes.service.js';
import { AdminsOnly } from './organizations.errors.js';
import { ADMIN_ONLY, OWNED, setScope } from './owner-scope.js';
import type { OwnerScope } from './owner-scope.js';

/**
 * Turns the address into a scope: malformed ids are 400, an organization that is not the caller's 404, a role
 * that is not enough 403, in this order. Runs after the session guard, for every route.
 */
@Injectable()
export class OwnerScopeGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly scopes: ScopesService,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    assertPathIds(request.params);
    const scope = await this.resolve(context, request);
    if (!scope) return true;
    const adminOnly = this.reflector.get<string | undefined>(ADMIN_ONLY, context.getHandler());
    if (adminOnly !== undefined && scope.role !== 'admin') throw new AdminsOnly(adminOnly);
    setScope(request, scope);
    return true;
  }

  /** Undefined where the path belongs to no organization. */
  private async resolve(context: ExecutionContext, request: Request): Promise<OwnerScope | undefined> {
    const { organizationId } = request.params;
    if (organizationId !== undefined) {
      return this.scopes.scope(sessionUserOf(request), Number(organizationId));
    }
    if (!this.reflector.get<boolean>(OWNED, context.getClass())) return undefined;
    return this.scopes.personalScope(sessionUserOf(request));
  }
}
