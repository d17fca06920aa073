import type { Type } from '@nestjs/common';
import { ApiMember } from '../../../common/api/members.js';
import type { UsageField } from '../../record/usage-field.js';
import type { ValuesOf } from '../../record/usage-record.js';

/** Creates a response class with the fields of a table, documented as the table describes them. */
export function withFields<Fields extends Record<string, UsageField<unknown>>, Base extends object>(
  fields: Fields,
  base: Type<Base>,
): Type<Base & ValuesOf<Fields>> {
  const extended = class extends (base as Type<object>) {};
  for (const [name, { schema, description }] of Object.entries(fields)) {
    ApiMember(schema, description)(extended.prototype as object, name);
  }
  return extended as Type<Base & ValuesOf<Fields>>;
}
