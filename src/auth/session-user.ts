import { createParamDecorator } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';

/** The user of a request, according to the session. All requests of a cached session share one object. */
export interface SessionUser {
  readonly id: string;
  readonly email: string;
  /** Whether the identity provider verified the address. Without it, the user cannot see or accept invitations. */
  readonly emailVerified: boolean;
}

/** The {@link SessionUser} of the request. */
export const CurrentUser = createParamDecorator((_: unknown, context: ExecutionContext) =>
  getSessionUser(context.switchToHttp().getRequest<Request>()),
);

/** The user that the session guard found. Only valid after the guard has run. */
export function getSessionUser(request: Request): SessionUser {
  return request.user as SessionUser;
}
