import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { ValidateBy } from 'class-validator';
import type { FieldContext } from './json-body.js';
import type { MemberSchema } from '../api/members.js';

/** Reason for which a nested value is rejected. */
export class Violation {
  /** @param message completes "<member> ..." */
  constructor(readonly message: string) {}
}

/** Rule for a member whose value is an array or an object. */
export interface NestedRule {
  /** @returns the value of the member, or the reason for its rejection. Gets null only if `isNullable` is set. */
  readonly parse: (value: unknown) => unknown;
  /** Whether null is a value. Otherwise a member that is null counts as absent. */
  readonly isNullable?: boolean;
  readonly schema: MemberSchema;
}

/**
 * Applies a rule to a nested member of a body. The rule parses the value itself, because the general conversion would
 * follow a value of any depth.
 * @param type error type of a violation
 */
export function nestedField(
  { parse, isNullable = false, schema }: NestedRule,
  type?: string,
): PropertyDecorator {
  const context: FieldContext = { type, nested: { parse, isNullable } };
  return applyDecorators(
    ApiProperty(schema),
    ValidateBy(
      {
        name: 'nested',
        validator: {
          validate: (value) => !(value instanceof Violation),
          defaultMessage: (args) => `${args?.property} ${messageOf(args?.value)}`,
        },
      },
      { context },
    ),
  );
}

function messageOf(value: unknown): string {
  return value instanceof Violation ? value.message : 'is not valid';
}
