import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsOptional, ValidateBy } from 'class-validator';
import { parseIsoTime } from '../text/iso-time.js';
import type { FieldContext } from './json-body.js';
import type { MemberSchema } from '../api/members.js';
import { ID_MAX } from '../api/path-id.js';
import { ADDRESS_MAX_LENGTH, codePoints, isAddress, isStorableText, trimUnicode } from '../text/text.js';

export const NAME_MAX_CODE_POINTS = 255;
/** Regular expressions of the OpenAPI document: no U+0000, and in a name at least one character that is not white space. */
const TEXT_PATTERN = '^[^\\u0000]*$';
const NAME_PATTERN = '^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$';
const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,78}[a-z0-9])?$/;

/** Rule for a member of a request body. */
interface Rule {
  readonly name: string;
  readonly test: (value: unknown) => boolean;
  /** Completes "<member> ...". */
  readonly expects: string;
  /** Closest description of the rule as JSON schema, for the OpenAPI document. */
  readonly schema: MemberSchema;
}

/** Applies a rule to a member of a body. @param type error type of a violation */
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
    expects: `must be a string of 1 to ${NAME_MAX_CODE_POINTS} characters without U+0000 or lone surrogates`,
    schema: { type: 'string', minLength: 1, maxLength: NAME_MAX_CODE_POINTS, pattern: NAME_PATTERN },
  };
  return applyDecorators(Trimmed(), field(rule, type));
}

function isName(value: unknown): boolean {
  if (typeof value !== 'string' || value === '' || !isStorableText(value)) return false;
  return codePoints(value) <= NAME_MAX_CODE_POINTS;
}

/** Slug of 1 to 80 characters `a-z`, `0-9` and hyphen, without a hyphen at either end; never trimmed. */
export function Slug(): PropertyDecorator {
  const rule: Rule = {
    name: 'slug',
    test: (value) => typeof value === 'string' && SLUG.test(value),
    expects: 'must be 1 to 80 lowercase letters, digits or hyphens, without a hyphen at either end',
    schema: { type: 'string', minLength: 1, maxLength: 80, pattern: SLUG.source },
  };
  return field(rule, 'invalid_slug');
}

/** Text that PostgreSQL stores unchanged. */
export function Text(): PropertyDecorator {
  const rule: Rule = {
    name: 'text',
    test: (value) => typeof value === 'string' && isStorableText(value),
    expects: 'must be a string without U+0000 or lone surrogates',
    schema: { type: 'string', pattern: TEXT_PATTERN },
  };
  return field(rule);
}

/** Text that the object storage keeps byte for byte: anything that UTF-8 can encode. */
export function OpaqueText(): PropertyDecorator {
  const rule: Rule = {
    name: 'opaqueText',
    test: (value) => typeof value === 'string' && value.isWellFormed(),
    expects: 'must be a string without lone surrogates',
    schema: { type: 'string' },
  };
  return field(rule);
}

/** String from a fixed list. */
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

/** Id of a resource in a body. */
export function IdField(): PropertyDecorator {
  const rule: Rule = {
    name: 'id',
    test: (value) => Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= ID_MAX,
    expects: `must be an integer from 0 to ${ID_MAX}`,
    schema: { type: 'integer', format: 'int64', minimum: 0, maximum: ID_MAX },
  };
  return field(rule);
}

/** Time in the future: ISO 8601 with a time zone. */
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

/** Allows a member to be absent or null; its other rules then do not apply. */
export function Optional(): PropertyDecorator {
  return applyDecorators(IsOptional(), ApiProperty({ required: false, nullable: true }));
}

/** Documents the purpose of a member, with an example that is valid as it is. */
export function About(description: string, example?: unknown): PropertyDecorator {
  return ApiProperty({ description, example });
}
