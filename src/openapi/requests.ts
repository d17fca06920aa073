import type { ParameterSchemas } from '../common/operation.js';
import { ID_MAX, isPathId } from '../common/path-id.js';
import { exampleOf, withExamples } from './json-schema.js';
import type { Json } from './json-schema.js';
import { documentPath, hasEntityTag } from './route.js';
import type { Route } from './route.js';
import { schemaName } from './schema-names.js';

const IF_NONE_MATCH: ParameterSchemas = {
  'If-None-Match': { type: 'string', description: 'An ETag: 304 while it is still the one.' },
};
const ID_IN_PATH = { type: 'integer', format: 'int64', minimum: 0, maximum: ID_MAX, examples: [42] };
const FORM = 'application/x-www-form-urlencoded';
const PATH_EXAMPLES: Record<string, string> = { userCode: 'WDJB-MJHT', userId: 'me' };

/** Everything beside the body. */
export function parametersOf(route: Route): Json[] {
  const names = [...documentPath(route.path).matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const { query = {}, headers = {} } = route.operation;
  return [
    ...route.parameters.map((name, i) => pathParameter(name, names[i]!)),
    ...others('query', query),
    ...others('header', hasEntityTag(route) ? { ...headers, ...IF_NONE_MATCH } : headers),
  ];
}

function pathParameter(name: string, shown: string): Json {
  const schema = isPathId(name) ? ID_IN_PATH : { type: 'string', examples: [PATH_EXAMPLES[name]] };
  return { name: shown, in: 'path', required: true, schema };
}

function others(where: 'query' | 'header', schemas: ParameterSchemas): Json[] {
  return Object.entries(schemas).map(([name, { description, ...schema }]) => ({
    ...{ name, in: where, description },
    schema: withExamples(schema),
  }));
}

/** Undefined where a body is not looked at. */
export function requestBodyOf({ body, operation }: Route, schemas: Json): Json | undefined {
  const json = body && bodyContent(body.type.name, schemas, operation.orPage);
  const form = operation.form && formContent(operation.form, operation.formRequires);
  if (!json && !form) return undefined;
  return { required: body?.presence !== 'optional', content: { ...json, ...form } };
}

function bodyContent(className: string, schemas: Json, orForm = false): Json {
  const schema = { $ref: `#/components/schemas/${schemaName(className)}` };
  const media = { schema, example: exampleOf(schema, schemas) };
  return { 'application/json': media, ...(orForm ? { [FORM]: media } : {}) };
}

function formContent(form: ParameterSchemas, required: readonly string[] = []): Json {
  const schema: Json = { type: 'object', properties: withExamples(form), required };
  return { [FORM]: { schema, example: exampleOf(schema, {}) } };
}
