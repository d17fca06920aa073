import { createParamDecorator } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { BadRequest } from './domain-error.js';
import type { ParameterSchemas } from './operation.js';

/** A query parameter that is neither `true` nor `false`. */
export class InvalidFlag extends BadRequest {
  constructor(name: string) {
    super(`${name} must be true or false`);
  }
}

/** Documents a query parameter that {@link Flag} injects. */
export function flagParameter(name: string, description: string): ParameterSchemas {
  return { [name]: { type: 'boolean', default: false, description } };
}

/** Injects the value of a query parameter; false if it is absent. @throws InvalidFlag */
export const Flag = createParamDecorator((name: string, context: ExecutionContext): boolean => {
  const { [name]: given = 'false' } = context.switchToHttp().getRequest<Request>().query;
  if (given !== 'true' && given !== 'false') throw new InvalidFlag(name);
  return given === 'true';
});
