import { STATUS_CODES } from 'node:http';
import { HttpStatus } from '@nestjs/common';
import type { Type } from '@nestjs/common';
import { HEADERS_TOO_LARGE, RequestTimeout } from '../common/api/domain-error.js';
import { errorBody } from '../common/api/error.filter.js';
import type { Rejection } from '../common/api/error.filter.js';
import type { Operation } from '../common/api/operation.js';
import { headers } from './headers.js';
import { createExample, inferSchema, schemaName } from './json-schema.js';
import type { Json } from './json-schema.js';
import { listRejections } from './rejections.js';
import { hasEntityTag } from './route.js';
import type { Route } from './route.js';

const PAGE = { 'text/html': { schema: { type: 'string' } } };
const ZIP = { 'application/zip': { schema: { type: 'string', contentMediaType: 'application/zip' } } };

/** A rejection with the status and body that the route's filter sends. */
interface SentRejection {
  readonly status: number;
  readonly body: object;
  readonly rejection: Rejection;
}

/** Describes the responses of a route by status: headers, body and an example. */
export function describeResponses(route: Route, schemas: Json): Json {
  const { operation, successStatus } = route;
  const statuses = [successStatus, ...(operation.otherStatuses ?? [])];
  const rejections = listSentRejections(route);
  const rejectionStatuses = [...new Set(rejections.map(({ status }) => status))];
  return Object.fromEntries([
    ...statuses.map((status) => [status, describeSuccess(status, route, schemas)] as const),
    ...(hasEntityTag(route) ? [[HttpStatus.NOT_MODIFIED, NOT_MODIFIED] as const] : []),
    ...(operation.redirectHeaders
      ? [[HttpStatus.SEE_OTHER, describeRedirect(operation.redirectHeaders)] as const]
      : []),
    ...Object.entries(describeConnectionRejections()),
    ...rejectionStatuses.map((status) => {
      const sameStatus = rejections.filter((other) => other.status === status);
      return [status, describeRejections(sameStatus, route)] as const;
    }),
  ]);
}

/** Describes the rejections that every route can send before its request is read. A route may have others of a status. */
export function describeConnectionRejections(): Json {
  const rejections = [new RequestTimeout(), HEADERS_TOO_LARGE].map(({ status, message }) => {
    const example = errorBody(message);
    const content = { 'application/json': { schema: inferSchema([example]), example } };
    return [status, { description: `- ${message}`, headers: headers([]), content }] as const;
  });
  return Object.fromEntries(rejections);
}

const NOT_MODIFIED = {
  description: 'The ETag in `If-None-Match` is current.',
  headers: headers(['ETag']),
};

/** Express adds a body for old browsers. */
function describeRedirect(names: readonly string[]): Json {
  return {
    description: 'Redirects to the target that the form named.',
    headers: headers(['Location', ...names]),
    content: { ...PAGE, 'text/plain': { schema: { type: 'string' } } },
  };
}

function describeSuccess(status: number, route: Route, schemas: Json): Json {
  const { response, responseHeaders = [], optionalResponseHeaders } = route.operation;
  const names = [
    ...route.headers.map(({ name }) => name),
    ...responseHeaders,
    ...(hasEntityTag(route) ? ['ETag'] : []),
  ];
  return {
    description: STATUS_CODES[status]!,
    headers: headers(names, optionalResponseHeaders),
    ...(response === undefined ? {} : { content: describeContent(response, route.operation, schemas) }),
  };
}

function describeContent(
  response: Type<object> | 'page' | 'zip',
  { hasPage, otherFormats = {} }: Operation,
  schemas: Json,
): Json {
  if (response === 'page') return PAGE;
  if (response === 'zip') return ZIP;
  const schema = { $ref: `#/components/schemas/${schemaName(response.name)}` };
  const example = createExample(schema, schemas);
  const others = Object.fromEntries(
    Object.entries(otherFormats).map(([type, write]) => [
      type,
      { schema: { type: 'string' }, example: write(example as never) },
    ]),
  );
  return { 'application/json': { schema, example }, ...others, ...(hasPage ? PAGE : {}) };
}

function listSentRejections(route: Route): SentRejection[] {
  return listRejections(route).map((rejection) => ({ ...route.filter.responseTo(rejection), rejection }));
}

function describeRejections(rejections: readonly SentRejection[], { operation }: Route): Json {
  const { status } = rejections[0]!;
  const isPage = operation.response === 'page' && status !== Number(HttpStatus.REQUEST_TIMEOUT);
  const names = rejections.map(({ rejection }) => Object.keys(rejection.headers ?? {}));
  const isForm = operation.hasPage && status === Number(HttpStatus.BAD_REQUEST); // the page shows the form again
  const always = names[0]!.filter((name) => names.every((others) => others.includes(name)));
  const json = {
    schema: inferSchema(rejections.map(({ body }) => toPlainJson(body))),
    examples: createExamples(rejections),
  };
  return {
    description: [...new Set(rejections.map(sentence))].join('\n'),
    headers: headers(always, names.flat()),
    content: isPage ? PAGE : { 'application/json': json, ...(isForm ? PAGE : {}) },
  };
}

function sentence({ body, rejection: { message } }: SentRejection): string {
  const type = errorType(body);
  return type === undefined ? `- ${message}` : `- \`${type}\`: ${message}`;
}

/** Examples by error type. Further examples of the same type are numbered. */
function createExamples(rejections: readonly SentRejection[]): Json {
  const types = rejections.map(({ body }) => errorType(body));
  const entries = rejections.map(({ body, rejection }, i): [string, Json] => [
    `${types[i] ?? 'untyped'}${types.indexOf(types[i]) < i ? `_${i}` : ''}`,
    { summary: rejection.message, value: toPlainJson(body) },
  ]);
  return Object.fromEntries(entries);
}

/** Error type that clients branch on: a member of `error`, or `error` itself in the format of RFC 6749. */
function errorType(body: object): string | undefined {
  const { error } = body as { error: string | { type?: string } };
  return typeof error === 'string' ? error : error.type;
}

/** Drops undefined members, as JSON does. */
function toPlainJson(body: object): unknown {
  return JSON.parse(JSON.stringify(body));
}
