import type { Json } from './json-schema.js';

/**
 * Gives each object that may be null a schema of its own. Generators of clients do not support `type: [object, null]`.
 * Schema and member form the name. Equal objects share a schema.
 */
export function nameNullableObjects(schemas: Json): Json {
  const named: Record<string, Json> = {};
  const names = new Map<string, string>();
  const replace = (node: unknown, path: readonly string[]): unknown => {
    if (Array.isArray(node)) return node.map((item: unknown) => replace(item, path));
    if (typeof node !== 'object' || node === null) return node;
    const entries = Object.entries(node).map(([key, value]) => [key, replace(value, pathTo(path, key))]);
    const schema = Object.fromEntries(entries) as Json;
    return isNullableObject(schema) ? refer(schema, path) : schema;
  };
  const refer = ({ description, examples, ...rest }: Json, path: readonly string[]): Json => {
    const schema = { ...rest, type: 'object' };
    const text = JSON.stringify(schema);
    const name = names.get(text) ?? path.map(capitalize).join('');
    names.set(text, name);
    if (name in schemas) throw new Error(`a schema has the name of the nullable object ${name}`);
    named[name] = schema;
    const choice = { oneOf: [{ $ref: `#/components/schemas/${name}` }, { type: 'null' }] };
    return { ...(description ? { description } : {}), ...(examples ? { examples } : {}), ...choice };
  };
  const replaced = Object.entries(schemas).map(([name, schema]) => [name, replace(schema, [name])]);
  return { ...(Object.fromEntries(replaced) as Json), ...named };
}

/** Names on the way to a schema, without the keywords of JSON Schema. */
function pathTo(path: readonly string[], key: string): readonly string[] {
  return key === 'properties' || key === 'items' ? path : [...path, key];
}

function isNullableObject({ type, properties }: Json): boolean {
  return Array.isArray(type) && type.includes('object') && properties !== undefined;
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
