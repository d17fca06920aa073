import { createParamDecorator } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';

/** Who makes the request, as the session says it. The same object for all requests of a cached session. */
export interface SessionUser {
  readonly id: string;
  readonly email: string;
  /** False only where the identity provider says so: then invitations are out of reach. */
  readonly emailVerified: boolean;
}

/** The {@link SessionUser} of the request. */
export const CurrentUser = createParamDecorator((_: unknown, context: ExecutionContext) =>
  sessionUserOf(context.switchToHttp().getRequest<Request>()),
);

/** Who the session guard found; only for what runs behind it. */
export function sessionUserOf(request: Request): SessionUser {
  return request.user as SessionUser;
}
