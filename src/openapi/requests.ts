import type { ParameterSchemas } from '../common/api/operation.js';
import { ID_MAX, isPathId } from '../common/api/path-id.js';
import { createExample, convertExamples, schemaName } from './json-schema.js';
import type { Json } from './json-schema.js';
import { documentPath, hasEntityTag } from './route.js';
import type { Route } from './route.js';

const IF_NONE_MATCH: ParameterSchemas = {
  'If-None-Match': { type: 'string', description: 'An ETag. The response is 304 while it is current.' },
};
const ID_IN_PATH = { type: 'integer', format: 'int64', minimum: 0, maximum: ID_MAX, examples: [42] };
const FORM = 'application/x-www-form-urlencoded';
const PATH_EXAMPLES: Record<string, string> = { userCode: 'WDJB-MJHT', userId: 'me' };

/** Describes all parameters of a route except the body. */
export function describeParameters(route: Route): Json[] {
  const names = [...documentPath(route.path).matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const { query = {}, headers = {} } = route.operation;
  return [
    ...route.parameters.map((name, i) => pathParameter(name, names[i]!)),
    ...describeOptional('query', query),
    ...describeOptional('header', hasEntityTag(route) ? { ...headers, ...IF_NONE_MATCH } : headers),
  ];
}

function pathParameter(name: string, shown: string): Json {
  const schema = isPathId(name) ? ID_IN_PATH : { type: 'string', examples: [PATH_EXAMPLES[name]] };
  return { name: shown, in: 'path', required: true, schema };
}

function describeOptional(where: 'query' | 'header', schemas: ParameterSchemas): Json[] {
  return Object.entries(schemas).map(([name, { description, ...schema }]) => ({
    name,
    in: where,
    description,
    schema: convertExamples(schema),
  }));
}

/** Undefined if the route ignores the body. */
export function describeRequestBody({ body, operation }: Route, schemas: Json): Json | undefined {
  const json = body && bodyContent(body.type.name, schemas, operation.hasPage);
  const form = operation.form && formContent(operation.form, operation.requiredFormFields);
  if (!json && !form) return undefined;
  return { required: body?.presence !== 'optional', content: { ...json, ...form } };
}

function bodyContent(className: string, schemas: Json, orForm = false): Json {
  const schema = { $ref: `#/components/schemas/${schemaName(className)}` };
  const media = { schema, example: createExample(schema, schemas) };
  return { 'application/json': media, ...(orForm ? { [FORM]: media } : {}) };
}

function formContent(form: ParameterSchemas, required: readonly string[] = []): Json {
  const schema: Json = { type: 'object', properties: convertExamples(form), required };
  return { [FORM]: { schema, example: createExample(schema, {}) } };
}
