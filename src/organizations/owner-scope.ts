import { applyDecorators, Controller, createParamDecorator, SetMetadata } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { SessionUser } from '../auth/session-user.js';
import type { Role } from './membership.entity.js';

/** On whose behalf a request acts: found by the {@link OwnerScopeGuard}, first argument of every owned service. */
export interface OwnerScope {
  readonly organizationId: number;
  readonly role: Role;
  readonly user: SessionUser;
}

export const OWNED = 'mintkeep:owned';
export const ADMIN_ONLY = 'mintkeep:admin-only';

/**
 * A controller for what an organization owns, at two addresses: `me/<path>` for the caller's personal
 * organization and `me/organizations/:organizationId/<path>` for any that the caller is a member of.
 */
export const OwnedController = (path: string): ClassDecorator =>
  applyDecorators(
    Controller([`me/${path}`, `me/organizations/:organizationId/${path}`]),
    SetMetadata(OWNED, true),
  );

/** Members are refused with "only admins can <what>". */
export const AdminOnly = (what: string): MethodDecorator => SetMetadata(ADMIN_ONLY, what);

/** The {@link OwnerScope} of the request. */
export const Scope = createParamDecorator((_: unknown, context: ExecutionContext) =>
  scopeOf(context.switchToHttp().getRequest<Request>()),
);

type ScopedRequest = Request & { ownerScope?: OwnerScope };

function scopeOf(request: ScopedRequest): OwnerScope {
  if (!request.ownerScope) throw new Error('a route asks for a scope, but its path has no owner');
  return request.ownerScope;
}

export function setScope(request: Request, scope: OwnerScope): void {
  (request as ScopedRequest).ownerScope = scope;
}
