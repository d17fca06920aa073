/** A JSON schema, or any other object of the document. */
export type Json = Record<string, unknown>;

/**
 * A schema that the given bodies fit, and no others of their kind: what clients branch on (`type`, `error`,
 * numbers) is one of the values that are there, prose is any.
 */
export function schemaOf(values: readonly unknown[]): Json {
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
  return isProse ? { type: 'string', description: 'For people.' } : schemaOf(values);
}

/** A value that fits the schema, made of the examples in it; optional members without one are left out. */
export function exampleOf(schema: Json, schemas: Json): unknown {
  if (typeof schema.$ref === 'string') return exampleOf(resolve(schema.$ref, schemas), schemas);
  const [given = choiceOf(schema, schemas)] = (schema.examples as unknown[] | undefined) ?? [];
  if (given !== undefined) return given;
  if (schema.type === 'array') return [exampleOf(schema.items as Json, schemas)];
  return schema.properties === undefined ? undefined : objectExample(schema, schemas);
}

/** The first of what it may be. */
function choiceOf({ anyOf, allOf, oneOf, enum: values }: Json, schemas: Json): unknown {
  const [choice] = (anyOf ?? allOf ?? oneOf ?? values ?? []) as unknown[];
  return typeof choice === 'object' ? exampleOf(choice as Json, schemas) : choice;
}

function objectExample({ properties }: Json, schemas: Json): Json {
  const entries = Object.entries(properties as Record<string, Json>);
  const members = entries.map(([name, member]): [string, unknown] => [name, exampleOf(member, schemas)]);
  return Object.fromEntries(members.filter(([, value]) => value !== undefined));
}

function resolve(ref: string, schemas: Json): Json {
  return schemas[ref.replace('#/components/schemas/', '')] as Json;
}

/** JSON schema 2020-12 of what Nest makes of decorators: examples are lists there. */
export function withExamples<T>(node: T): T {
  if (Array.isArray(node)) return node.map((item: unknown) => withExamples(item)) as T;
  if (typeof node !== 'object' || node === null) return node;
  const { example, ...rest } = node as Json;
  const members = Object.entries(rest).map(([name, value]) => [name, withExamples(value)]);
  return Object.fromEntries(example === undefined ? members : [...members, ['examples', [example]]]) as T;
}
