import { createParamDecorator } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { BadRequest } from '../common/domain-error.js';
import type { ParameterSchemas } from '../common/operation.js';

/** The query of lists of keys. */
export const INCLUDE_REVOKED: ParameterSchemas = {
  include_revoked: {
    type: 'boolean',
    default: false,
    description: 'Whether keys that work no more are listed, too.',
  },
};

/** {@link INCLUDE_REVOKED} is neither `true` nor `false`. */
export class NotAChoice extends BadRequest {
  constructor() {
    super('include_revoked must be true or false');
  }
}

/** Whether {@link INCLUDE_REVOKED} is asked for. @throws NotAChoice */
export const IncludeRevoked = createParamDecorator((_: unknown, context: ExecutionContext): boolean => {
  const { include_revoked: given = 'false' } = context.switchToHttp().getRequest<Request>().query;
  if (given !== 'true' && given !== 'false') throw new NotAChoice();
  return given === 'true';
});
