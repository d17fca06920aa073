/** A JSON schema, or any other object of the document. */
export type Json = Record<string, unknown>;

/**
 * Infers the schema of the given bodies. Members that clients branch on (`type`, `error`, numbers) are enumerations of
 * the given values. Messages for people are arbitrary strings.
 */
export function inferSchema(values: readonly unknown[]): Json {
  const [first] = values;
  if (typeof first === 'number') return { type: 'integer', enum: [...new Set(values)] };
  if (typeof first !== 'object' || first === null) return { type: 'string', enum: [...new Set(values)] };
  const objects = values as Json[];
  const names = [...new Set(objects.flatMap((object) => Object.keys(object)))];
  const present = (name: string) =>
    objects.map((object) => object[name]).filter((value) => value !== undefined);
  const members = names.filter((name) => present(name).length > 0);
  return {
    type: 'object',
    required: members.filter((name) => present(name).length === objects.length),
    properties: Object.fromEntries(members.map((name) => [name, memberSchema(name, present(name))])),
  };
}

function memberSchema(name: string, values: readonly unknown[]): Json {
  const isProse = name === 'message' || name === 'error_description';
  return isProse ? { type: 'string', description: 'Text for people. It may change.' } : inferSchema(values);
}

/** Creates a value that matches the schema from the examples in it. Optional members without an example are omitted. */
export function createExample(schema: Json, schemas: Json): unknown {
  if (typeof schema.$ref === 'string') return createExample(resolve(schema.$ref, schemas), schemas);
  const [given = firstChoice(schema, schemas)] = (schema.examples as unknown[] | undefined) ?? [];
  if (given !== undefined) return given;
  if (schema.type === 'array') return [createExample(schema.items as Json, schemas)];
  return schema.properties === undefined ? undefined : objectExample(schema, schemas);
}

/** First alternative of a schema. */
function firstChoice({ anyOf, allOf, oneOf, enum: values }: Json, schemas: Json): unknown {
  const [choice] = (anyOf ?? allOf ?? oneOf ?? values ?? []) as unknown[];
  return typeof choice === 'object' ? createExample(choice as Json, schemas) : choice;
}

function objectExample({ properties }: Json, schemas: Json): Json {
  const entries = Object.entries(properties as Record<string, Json>);
  const members = entries.map(([name, member]): [string, unknown] => [name, createExample(member, schemas)]);
  return Object.fromEntries(members.filter(([, value]) => value !== undefined));
}

function resolve(ref: string, schemas: Json): Json {
  return schemas[ref.replace('#/components/schemas/', '')] as Json;
}

/** Converts Nest's `example` to the `examples` list of JSON Schema 2020-12. */
export function convertExamples<T>(node: T): T {
  if (Array.isArray(node)) return node.map((item: unknown) => convertExamples(item)) as T;
  if (typeof node !== 'object' || node === null) return node;
  const { example, ...rest } = node as Json;
  const members = Object.entries(rest).map(([name, value]) => [name, convertExamples(value)]);
  return Object.fromEntries(example === undefined ? members : [...members, ['examples', [example]]]) as T;
}

/** Name of a class in the document: without its suffix, which only says whether it is sent or received. */
export function schemaName(className: string): string {
  return className.replace(/(Response|Dto)$/, '');
}
