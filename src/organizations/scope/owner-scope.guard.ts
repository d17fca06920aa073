import { Injectable } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { getSessionUser } from '../../auth/session-user.js';
import { assertPathIds } from '../../common/api/path-id.js';
import { ScopesService } from './scopes.service.js';
import { assertRole } from '../model/membership-rules.js';
import { ADMIN_ONLY, OWNED, setScope } from './owner-scope.js';
import type { OwnerScope } from './owner-scope.js';

/**
 * Resolves the scope of a request from its path. Rejects, in this order, malformed ids (400), an organization without
 * the caller (404) and an insufficient role (403). Runs after the session guard, for every route.
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
    assertRole(scope.role, adminOnly);
    setScope(request, scope);
    return true;
  }

  /** Returns undefined if the route belongs to no organization. */
  private async resolve(context: ExecutionContext, request: Request): Promise<OwnerScope | undefined> {
    const { organizationId } = request.params;
    if (organizationId !== undefined) {
      return this.scopes.findScope(getSessionUser(request), Number(organizationId));
    }
    if (!this.reflector.get<boolean>(OWNED, context.getClass())) return undefined;
    return this.scopes.findPersonalScope(getSessionUser(request));
  }
}
