import { applyDecorators, Controller, createParamDecorator, SetMetadata } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { SessionUser } from '../../auth/session-user.js';
import type { Role } from '../model/membership.entity.js';

/** Owner that a request acts on, with the caller and their role. First argument of every service of owned objects. */
export interface OwnerScope {
  readonly organizationId: number;
  readonly role: Role;
  readonly user: SessionUser;
}

export const OWNED = 'mintkeep:owned';
export const ADMIN_ONLY = 'mintkeep:admin-only';

/**
 * Declares a controller for objects of an organization, at two addresses. `me/<path>` is the caller's personal
 * organization, `me/organizations/:organizationId/<path>` any organization of the caller.
 */
export const OwnedController = (path: string): ClassDecorator =>
  applyDecorators(
    Controller([`me/${path}`, `me/organizations/:organizationId/${path}`]),
    SetMetadata(OWNED, true),
  );

/** Rejects members with "only admins can <action>". */
export const AdminOnly = (action: string): MethodDecorator => SetMetadata(ADMIN_ONLY, action);

/** Injects the {@link OwnerScope} of the request. */
export const Scope = createParamDecorator((_: unknown, context: ExecutionContext) =>
  scopeOf(context.switchToHttp().getRequest<Request>()),
);

type ScopedRequest = Request & { ownerScope?: OwnerScope };

function scopeOf(request: ScopedRequest): OwnerScope {
  if (!request.ownerScope)
    throw new Error('@Scope() needs @OwnedController() or a path with :organizationId');
  return request.ownerScope;
}

export function setScope(request: Request, scope: OwnerScope): void {
  (request as ScopedRequest).ownerScope = scope;
}
