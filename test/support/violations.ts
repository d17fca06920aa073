import type { Type } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import type { FieldContext } from '../../src/common/body/json-body.js';

/** Validates a body against the rules of a request class. @returns the error type of each invalid member */
export function violationsOf(dto: Type<object>, body: object): (string | undefined)[] {
  return validateSync(plainToInstance(dto, body)).map(({ contexts = {} }) => {
    const [context] = Object.values(contexts) as FieldContext[];
    return context?.type;
  });
}
