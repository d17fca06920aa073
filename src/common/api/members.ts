import type { Type } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import type { ApiPropertyOptions } from '@nestjs/swagger';

/** JSON schema of a member. */
export type MemberSchema = Readonly<Record<string, unknown>>;

/** Id of a resource. */
export const ID: MemberSchema = { type: 'integer', format: 'int64', minimum: 0, example: 42 };
/** ISO 8601, UTC, milliseconds. */
export const TIME: MemberSchema = {
  type: 'string',
  format: 'date-time',
  example: '2026-01-31T09:30:00.000Z',
};
/** Non-negative number of items. */
export const COUNT: MemberSchema = { type: 'integer', minimum: 0, example: 3 };
/** Sum that may exceed 32 bits, which generators of clients assume by default. */
export const SUM: MemberSchema = { ...COUNT, format: 'int64', example: 1_200 };
export const FLAG: MemberSchema = { type: 'boolean', example: true };
/** E-mail address. */
export const EMAIL: MemberSchema = { type: 'string', example: 'ada@example.com' };
export const USER_ID: MemberSchema = { type: 'string', example: 'f3c1a6de-8b7e-4b0e-9d5c-0a4f7d1b2c3e' };

export const text = (example: string): MemberSchema => ({ type: 'string', example });
export const oneOf = (values: readonly string[]): MemberSchema => ({
  type: 'string',
  enum: values,
  example: values[0],
});
export const orNull = (schema: MemberSchema): MemberSchema => ({ ...schema, nullable: true });
/** Member that may be absent. */
export const optional = (schema: MemberSchema): MemberSchema => ({ ...schema, required: false });
export const instanceOf = (type: Type<object>): MemberSchema => ({ type: () => type });
export const listOf = (type: Type<object>): MemberSchema => ({ type: () => type, isArray: true });
export const object = (properties: Readonly<Record<string, MemberSchema>>): MemberSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
});

/** Documents a member of a response in the OpenAPI document. The tests compare every response with the document. */
export function ApiMember(schema: MemberSchema, description?: string): PropertyDecorator {
  const { required, ...rest } = schema;
  const ofObject = Array.isArray(required) ? { selfRequired: true, required } : { required };
  return ApiProperty({ description, ...rest, ...ofObject } as ApiPropertyOptions);
}
