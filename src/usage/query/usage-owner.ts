import { createParamDecorator } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { getSessionUser } from '../../auth/session-user.js';

/** Selects the requests of all keys of a user, personal and team, or of all keys of an organization. */
export type UsageOwner = { readonly userId: string } | { readonly organizationId: number };

/** The {@link UsageOwner} that the address names. The scope guard has checked the membership of the caller. */
export const OwnerOfUsage = createParamDecorator((_: unknown, context: ExecutionContext): UsageOwner => {
  const request = context.switchToHttp().getRequest<Request>();
  const { organizationId } = request.params;
  if (organizationId === undefined) return { userId: getSessionUser(request).id };
  return { organizationId: Number(organizationId) };
});
