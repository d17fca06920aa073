import fc from 'fast-check';
import { bodyFor } from './bodies.js';
import type { Body } from './bodies.js';
import { fitting, oddString } from './values.js';
import type { Schema, Schemas } from './values.js';

const CREDENTIALS = ['admin', 'member', 'stranger', 'nobody', 'key', 'forged'] as const;
export type Credential = (typeof CREDENTIALS)[number];

const FORM_FIELDS = ['user_code', 'csrf_token', 'organization_id'] as const;
export type FormField = (typeof FORM_FIELDS)[number];

/** Routes for browsers, which send a cookie. */
const PAGES = ['/auth/device', '/auth/device/approve', '/auth/device/deny'];

/** Request to send. Ids of existing objects are named, so that the request means the same in the next run. */
export interface FuzzRequest {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  /** Values by path parameter; `undefined`: the id of something that exists. */
  readonly parameters: Readonly<Record<string, string | undefined>>;
  readonly query: readonly (readonly [string, string])[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Body;
  readonly credential: Credential;
  /** Form fields that a browser with a session fills in from the page. */
  readonly browser?: readonly FormField[];
}

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header' | 'cookie';
  readonly schema: Schema;
}

export interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Record<string, { schema: Schema }> };
}

export interface FuzzDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Schemas };
}

const ODD_METHODS = ['PATCH', 'OPTIONS', 'HEAD', 'PUT', 'DELETE', 'PROPFIND', 'TRACE'];

/** Requests to every operation of the document, all equally often. */
export function requestsTo({ paths, components }: FuzzDocument): fc.Arbitrary<FuzzRequest> {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      requestTo(path, method, operation, components.schemas),
    ),
  );
  return fc.oneof(...all);
}

function requestTo(
  path: string,
  method: string,
  operation: Operation,
  schemas: Schemas,
): fc.Arbitrary<FuzzRequest> {
  const { operationId, parameters = [], requestBody } = operation;
  const where = (place: Parameter['in']) => parameters.filter((parameter) => parameter.in === place);
  return fc.record(
    {
      operationId: fc.constant(operationId),
      method: often(fc.constant(method.toUpperCase()), fc.constantFrom(...ODD_METHODS), 30),
      path: fc.constant(path),
      parameters: fc.record(
        Object.fromEntries(where('path').map((one) => [one.name, pathValue(one, schemas)])),
      ),
      query: queryOf(where('query'), schemas),
      headers: headersOf(where('header'), schemas),
      body: requestBody
        ? bodyFor(requestBody.content, schemas)
        : often(fc.constant(undefined), anyBody(schemas), 9),
      credential: fc.oneof(
        { weight: 6, arbitrary: fc.constant('admin' as const) },
        fc.constantFrom(...CREDENTIALS),
      ),
      ...(PAGES.includes(path) ? { browser: fc.subarray([...FORM_FIELDS]) } : {}),
    },
    { requiredKeys: ['operationId', 'method', 'path', 'parameters', 'query', 'headers', 'credential'] },
  );
}

function often<T, U>(usual: fc.Arbitrary<T>, odd: fc.Arbitrary<U>, weight: number): fc.Arbitrary<T | U> {
  return fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: odd });
}

function anyBody(schemas: Schemas): fc.Arbitrary<Body> {
  return bodyFor({ 'application/json': { schema: { type: 'object' } } }, schemas);
}

function pathValue({ schema }: Parameter, schemas: Schemas): fc.Arbitrary<string | undefined> {
  return fc.oneof(
    { weight: 8, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fitting(schema, schemas).map(String) },
    {
      weight: 1,
      arbitrary: fc.oneof(oddString, fc.constantFrom('01', '1e3', '-1', '0', '1234567890123456', 'me')),
    },
  );
}

function queryOf(known: readonly Parameter[], schemas: Schemas): fc.Arbitrary<[string, string][]> {
  const pairs = known.map(({ name, schema }) =>
    fc.oneof(fitting(schema, schemas).map(String), oddString).map((value): [string, string] => [name, value]),
  );
  const odd = fc.tuple(oddString, oddString);
  return fc.array(pairs.length > 0 ? often(fc.oneof(...pairs), odd, 6) : odd, {
    maxLength: known.length > 0 ? 4 : 1,
  });
}

/** Header values are Latin-1 without control characters, or they never leave the client. */
const headerValue = oddString.map((text) => text.replace(/[^\x20-\x7e\xa0-\xff]/g, '?').slice(0, 4_000));

function headersOf(known: readonly Parameter[], schemas: Schemas): fc.Arbitrary<Record<string, string>> {
  const own = known.map(({ name, schema }) => [
    name,
    fc.oneof(
      fitting(schema, schemas).map((value) => String(value).replace(/[^\x20-\x7e]/g, '?')),
      headerValue,
    ),
  ]);
  const others = {
    'x-request-id': headerValue,
    'if-match': fc.oneof(fc.constantFrom('*', 'W/"1"', '"', ',,'), headerValue),
    'if-none-match': fc.oneof(fc.constantFrom('*', 'W/"1"', '"', ',,'), headerValue),
    'content-encoding': fc.constantFrom('gzip', 'identity', ''),
    accept: fc.constantFrom('text/csv', 'text/html', '*/*', 'x', ''),
    origin: fc.constantFrom('null', 'https://evil.example', 'x'),
    'sec-fetch-site': fc.constantFrom('same-origin', 'cross-site', 'x'),
    'x-forwarded-for': headerValue,
    range: fc.constantFrom('bytes=0-1', 'x'),
    cookie: headerValue.map((value) => `mintkeep_session=${value}`),
    'anthropic-version': headerValue,
  };
  const some = fc.subarray(Object.keys(others) as (keyof typeof others)[], { maxLength: 2 });
  return some.chain((names) => {
    const chosen = names.map((name) => [name, others[name]]);
    const all = Object.fromEntries([...own, ...chosen]) as Record<string, fc.Arbitrary<string>>;
    return fc.record(all, { requiredKeys: names }) as fc.Arbitrary<Record<string, string>>;
  });
}
