import { createParamDecorator } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { BadRequest } from '../common/api/domain-error.js';
import type { ParameterSchemas } from '../common/api/operation.js';

/** Query parameters of key lists. */
export const INCLUDE_REVOKED: ParameterSchemas = {
  include_revoked: {
    type: 'boolean',
    default: false,
    description: 'Whether to include revoked keys, up to the 1,000 that were revoked last.',
  },
};

/** The parameter {@link INCLUDE_REVOKED} is neither `true` nor `false`. */
export class InvalidIncludeRevoked extends BadRequest {
  constructor() {
    super('include_revoked must be true or false');
  }
}

/** Injects the value of {@link INCLUDE_REVOKED}. @throws InvalidIncludeRevoked */
export const IncludeRevoked = createParamDecorator((_: unknown, context: ExecutionContext): boolean => {
  const { include_revoked: given = 'false' } = context.switchToHttp().getRequest<Request>().query;
  if (given !== 'true' && given !== 'false') throw new InvalidIncludeRevoked();
  return given === 'true';
});
