import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { isEmail, IsOptional, ValidateBy } from 'class-validator';
import type { FieldContext } from './json-body.js';
import { codePoints, isStorableText, trimUnicode } from './text.js';

/** RFC 5321, sections 4.5.3.1.1 and 4.5.3.1.2. */
const EMAIL_MAX_LENGTH = 320;
const NAME_MAX_CODE_POINTS = 255;
/** Ids have 15 digits at most, see `path-id.ts`. */
const ID_MAX = 999_999_999_999_999;
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)$/;
const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,78}[a-z0-9])?$/;

/** A rule for one member of a body; `type` is the error type that a violation is answered with. */
function field(name: string, test: (value: unknown) => boolean, expects: string, type?: string) {
  const context: FieldContext = { type };
  return ValidateBy(
    { name, validator: { validate: test, defaultMessage: (args) => `${args?.property} ${expects}` } },
    { context },
  );
}

function Trimmed(): PropertyDecorator {
  return Transform(({ value }) => (typeof value === 'string' ? trimUnicode(value) : (value as unknown)));
}

/** A name or title: trimmed, then 1 to 255 code points that PostgreSQL can hold. */
export function Name(type: string): PropertyDecorator {
  return applyDecorators(
    Trimmed(),
    field('name', isName, `must be a string of 1 to ${NAME_MAX_CODE_POINTS} characters`, type),
  );
}

function isName(value: unknown): boolean {
  if (typeof value !== 'string' || value === '' || !isStorableText(value)) return false;
  return codePoints(value) <= NAME_MAX_CODE_POINTS;
}

/** 1 to 80 of `a-z`, `0-9` and hyphen, not beginning or ending with a hyphen; never trimmed. */
export function Slug(): PropertyDecorator {
  return field(
    'slug',
    (value) => typeof value === 'string' && SLUG.test(value),
    'must be 1 to 80 lowercase letters, digits or hyphens, without a hyphen at either end',
    'invalid_slug',
  );
}

/** Text kept in PostgreSQL as it comes. */
export function Text(type?: string): PropertyDecorator {
  return field(
    'text',
    (value) => typeof value === 'string' && isStorableText(value),
    'must be a string without U+0000 and lone surrogates',
    type,
  );
}

/** Text kept in object storage byte for byte: anything that has a UTF-8 form. */
export function OpaqueText(type?: string): PropertyDecorator {
  return field(
    'opaqueText',
    (value) => typeof value === 'string' && value.isWellFormed(),
    'must be a string without lone surrogates',
    type,
  );
}

/** One of the given strings. */
export function OneOf(values: readonly string[], type?: string): PropertyDecorator {
  return field(
    'oneOf',
    (value) => typeof value === 'string' && values.includes(value),
    `must be one of ${values.join(', ')}`,
    type,
  );
}

/** An e-mail address, trimmed. */
export function EmailAddress(type: string): PropertyDecorator {
  return applyDecorators(
    Trimmed(),
    field(
      'emailAddress',
      (value) =>
        typeof value === 'string' &&
        value.length <= EMAIL_MAX_LENGTH &&
        isEmail(value) &&
        isStorableText(value),
      'must be an e-mail address',
      type,
    ),
  );
}

/** An id of ours in a body. */
export function IdField(type?: string): PropertyDecorator {
  return field(
    'id',
    (value) => Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= ID_MAX,
    'must be an id',
    type,
  );
}

/** A time to come: ISO 8601 with a time zone. */
export function FutureTime(type: string): PropertyDecorator {
  return field(
    'futureTime',
    isFutureTime,
    'must be a time in the future, as ISO 8601 with a time zone',
    type,
  );
}

function isFutureTime(value: unknown): boolean {
  if (typeof value !== 'string' || !ISO_TIME.test(value)) return false;
  return Date.parse(value) > Date.now();
}

/** The member may be absent or null; its other rules count only where it is there. */
export const Optional = IsOptional;
