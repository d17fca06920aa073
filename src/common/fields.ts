import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsOptional, ValidateBy } from 'class-validator';
import { parseIsoTime } from './iso-time.js';
import type { FieldContext } from './json-body.js';
import type { MemberSchema } from './members.js';
import { ID_MAX } from './path-id.js';
import { ADDRESS_MAX_LENGTH, codePoints, isAddress, isStorableText, trimUnicode } from './text.js';

export const NAME_MAX_CODE_POINTS = 255;
const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,78}[a-z0-9])?$/;

/** What a member of a body must be. */
interface Rule {
  readonly name: string;
  readonly test: (value: unknown) => boolean;
  /** Completes "<member> ...". */
  readonly expects: string;
  /** What the OpenAPI document says of it, as closely as JSON schema can. */
  readonly schema: MemberSchema;
}

/** A rule for one member of a body; `type` is the error type that a violation is answered with. */
export function field({ name, test, expects, schema }: Rule, type?: string): PropertyDecorator {
  const context: FieldContext = { type };
  return applyDecorators(
    ApiProperty(schema),
    ValidateBy(
      { name, validator: { validate: test, defaultMessage: (args) => `${args?.property} ${expects}` } },
      { context },
    ),
  );
}

function Trimmed(): PropertyDecorator {
  return Transform(({ value }) => (typeof value === 'string' ? trimUnicode(value) : (value as unknown)));
}

/** A name or title: trimmed, then 1 to 255 code points that PostgreSQL can hold. */
export function Name(type: string): PropertyDecorator {
  const rule: Rule = {
    name: 'name',
    test: isName,
    expects: `must be a string of 1 to ${NAME_MAX_CODE_POINTS} characters`,
    schema: { type: 'string', minLength: 1, maxLength: NAME_MAX_CODE_POINTS, pattern: '\\S' },
  };
  return applyDecorators(Trimmed(), field(rule, type));
}

function isName(value: unknown): boolean {
  if (typeof value !== 'string' || value === '' || !isStorableText(value)) return false;
  return codePoints(value) <= NAME_MAX_CODE_POINTS;
}

/** 1 to 80 of `a-z`, `0-9` and hyphen, not beginning or ending with a hyphen; never trimmed. */
export function Slug(): PropertyDecorator {
  const rule: Rule = {
    name: 'slug',
    test: (value) => typeof value === 'string' && SLUG.test(value),
    expects: 'must be 1 to 80 lowercase letters, digits or hyphens, without a hyphen at either end',
    schema: { type: 'string', minLength: 1, maxLength: 80, pattern: SLUG.source },
  };
  return field(rule, 'invalid_slug');
}

/** Text kept in PostgreSQL as it comes. */
export function Text(): PropertyDecorator {
  const rule: Rule = {
    name: 'text',
    test: (value) => typeof value === 'string' && isStorableText(value),
    expects: 'must be a string without U+0000 and lone surrogates',
    schema: { type: 'string' },
  };
  return field(rule);
}

/** Text kept in object storage byte for byte: anything that has a UTF-8 form. */
export function OpaqueText(): PropertyDecorator {
  const rule: Rule = {
    name: 'opaqueText',
    test: (value) => typeof value === 'string' && value.isWellFormed(),
    expects: 'must be a string without lone surrogates',
    schema: { type: 'string' },
  };
  return field(rule);
}

/** One of the given strings. */
export function OneOf(values: readonly string[], type: string): PropertyDecorator {
  const rule: Rule = {
    name: 'oneOf',
    test: (value) => typeof value === 'string' && values.includes(value),
    expects: `must be one of ${values.join(', ')}`,
    schema: { type: 'string', enum: values },
  };
  return field(rule, type);
}

/** An e-mail address, trimmed. */
export function EmailAddress(): PropertyDecorator {
  const rule: Rule = {
    name: 'emailAddress',
    test: (value) => typeof value === 'string' && value.length <= ADDRESS_MAX_LENGTH && isAddress(value),
    expects: 'must be an e-mail address',
    schema: { type: 'string', maxLength: ADDRESS_MAX_LENGTH, pattern: '@' },
  };
  return applyDecorators(Trimmed(), field(rule, 'invalid_email'));
}

/** An id of ours in a body. */
export function IdField(): PropertyDecorator {
  const rule: Rule = {
    name: 'id',
    test: (value) => Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= ID_MAX,
    expects: 'must be an id',
    schema: { type: 'integer', format: 'int64', minimum: 0, maximum: ID_MAX },
  };
  return field(rule);
}

/** A time to come: ISO 8601 with a time zone. */
export function FutureTime(type: string): PropertyDecorator {
  const rule: Rule = {
    name: 'futureTime',
    test: isFutureTime,
    expects: 'must be a time in the future, as ISO 8601 with a time zone',
    schema: { type: 'string', format: 'date-time' },
  };
  return field(rule, type);
}

function isFutureTime(value: unknown): boolean {
  const time = typeof value === 'string' && value.includes('T') ? parseIsoTime(value) : undefined;
  return time !== undefined && time.getTime() > Date.now();
}

/** The member may be absent or null; its other rules count only where it is there. */
export function Optional(): PropertyDecorator {
  return applyDecorators(IsOptional(), ApiProperty({ required: false, nullable: true }));
}

/** What a member of a body is for, and a value that can be sent as it is. */
export function About(description: string, example?: unknown): PropertyDecorator {
  return ApiProperty({ description, example });
}
