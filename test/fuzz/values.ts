import fc from 'fast-check';

/** JSON schema, as far as the document uses it. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

export type Schemas = Readonly<Record<string, Schema>>;

/** Strings that people and programs send unexpectedly. */
const ODD_STRINGS = [
  ...[
    '',
    ' ',
    '\0',
    'a\0b',
    '\ud800',
    'x\udfff',
    '\ufeff',
    '\u202egnp.exe',
    'e\u0301',
    '\u200b',
    '\r\n',
    '\u0085',
  ],
  ...[
    "'; DROP TABLE projects; --",
    '%',
    '%00',
    '../../etc/passwd',
    '${7*7}',
    '{{x}}',
    '<script>',
    '\\',
    '\\u0000',
  ],
  ...[
    '__proto__',
    'constructor',
    'null',
    'undefined',
    'NaN',
    '1e999',
    '-0',
    '😀'.repeat(256),
    'x'.repeat(256),
  ],
  ...['x'.repeat(100_000), '\ufdfa'.repeat(20_000), '1'.repeat(400), 'a@'.repeat(500), ' '.repeat(50_000)],
];

export const oddString: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...ODD_STRINGS),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({ maxLength: 40 }),
);

/** Any JSON, with a liking for what is at an edge. */
export const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: oddString },
  fc.constantFrom(null, true, false, 0, -0, -1, 1.5, 2 ** 31, 2 ** 53, 1e308, -1e-308, 999_999_999_999_999),
  fc.constantFrom({}, [], [[]], [null], { length: 1 }, { toString: 1 }, { $gt: '' }, { toJSON: 1 }),
  fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<unknown>,
);

/** A value that fits the schema. */
export function fitting(schema: Schema, schemas: Schemas): fc.Arbitrary<unknown> {
  if (schema.$ref) return fitting(schemas[schema.$ref.split('/').at(-1)!]!, schemas);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((one) => fitting(one, schemas)));
  const types = [schema.type ?? 'string'].flat();
  return fc.oneof(...types.map((type) => ofType(type, schema, schemas)));
}

function ofType(type: string, schema: Schema, schemas: Schemas): fc.Arbitrary<unknown> {
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -10, max: Math.min(schema.maximum ?? 2 ** 31, 2 ** 31) });
    case 'array':
      return fc.array(fitting(schema.items ?? {}, schemas), { maxLength: 3 });
    case 'object':
      return objectOf(schema, schemas, (member) => fitting(member, schemas));
    default:
      return text(schema);
  }
}

function text({ format, pattern, minLength = 0, maxLength = 60 }: Schema): fc.Arbitrary<string> {
  if (format === 'date-time') return fc.date({ noInvalidDate: true }).map((date) => date.toISOString());
  if (format === 'uri')
    return fc.constantFrom('http://127.0.0.1:1/v1', 'https://127.0.0.1:1', 'http://[::1]:1/');
  if (pattern?.startsWith('^')) return fc.stringMatching(new RegExp(pattern));
  if (pattern === '@') return fc.emailAddress();
  return fc.string({ unit: 'grapheme', minLength, maxLength: Math.min(maxLength, 300) });
}

/** @param member what a member becomes */
function objectOf(
  { properties = {}, required = [] }: Schema,
  schemas: Schemas,
  member: (schema: Schema) => fc.Arbitrary<unknown>,
): fc.Arbitrary<unknown> {
  const members = Object.entries(properties).map(([name, schema]) => [name, member(schema)] as const);
  return fc.record(Object.fromEntries(members), { requiredKeys: [...required] as never[] });
}

/** An object whose members mostly fit, with some that are odd or not known. */
export function nearlyFitting(schema: Schema, schemas: Schemas): fc.Arbitrary<unknown> {
  const resolved = schema.$ref ? schemas[schema.$ref.split('/').at(-1)!]! : schema;
  const member = (one: Schema) =>
    fc.oneof({ weight: 2, arbitrary: fitting(one, schemas) }, { weight: 1, arbitrary: oddValue });
  const known = objectOf({ ...resolved, required: [] }, schemas, member);
  const unknown = fc.dictionary(oddString, oddValue, { maxKeys: 2 });
  return fc.tuple(unknown, known).map(([some, others]) => ({ ...some, ...(others as object) }));
}
