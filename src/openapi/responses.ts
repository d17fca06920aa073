import { STATUS_CODES } from 'node:http';
import { HttpStatus } from '@nestjs/common';
import type { Type } from '@nestjs/common';
import type { Refusal } from '../common/error.filter.js';
import type { Operation } from '../common/operation.js';
import { headers } from './headers.js';
import { exampleOf, schemaOf } from './json-schema.js';
import type { Json } from './json-schema.js';
import { refusalsOf } from './refusals.js';
import { hasEntityTag } from './route.js';
import type { Route } from './route.js';
import { schemaName } from './schema-names.js';

const PAGE = { 'text/html': { schema: { type: 'string' } } };

/** A refusal as the route's filter sends it. */
interface Refused {
  readonly status: number;
  readonly body: object;
  readonly refusal: Refusal;
}

/** Every status that the route answers with, what then is in the body, and an example of it. */
export function responsesOf(route: Route, schemas: Json): Json {
  const { operation, successStatus } = route;
  const statuses = [successStatus, ...(operation.alsoWith ?? [])];
  const refused = refusedBy(route);
  const refusedStatuses = [...new Set(refused.map(({ status }) => status))];
  return Object.fromEntries([
    ...statuses.map((status) => [status, successOf(status, route, schemas)] as const),
    ...(hasEntityTag(route) ? [[HttpStatus.NOT_MODIFIED, NOT_MODIFIED] as const] : []),
    ...(operation.sendsOn ? [[HttpStatus.SEE_OTHER, sentOn(operation.sendsOn)] as const] : []),
    ...refusedStatuses.map((status) => {
      const these = refused.filter((other) => other.status === status);
      return [status, refusalResponse(these, route)] as const;
    }),
  ]);
}

const NOT_MODIFIED = {
  description: 'What `If-None-Match` names is still so.',
  headers: headers(['ETag']),
};

/** The body is for browsers of old, as Express makes it. */
function sentOn(names: readonly string[]): Json {
  return {
    ...{ description: 'On to where a form wants to.', headers: headers(['Location', ...names]) },
    content: { ...PAGE, 'text/plain': { schema: { type: 'string' } } },
  };
}

function successOf(status: number, route: Route, schemas: Json): Json {
  const { answers, sets = [], maySet } = route.operation;
  const names = [...route.headers.map(({ name }) => name), ...sets, ...(hasEntityTag(route) ? ['ETag'] : [])];
  return {
    description: STATUS_CODES[status]!,
    headers: headers(names, maySet),
    ...(answers === undefined ? {} : { content: contentOf(answers, route.operation, schemas) }),
  };
}

function contentOf(answers: Type<object> | 'page', { orPage, alsoAs = {} }: Operation, schemas: Json): Json {
  if (answers === 'page') return PAGE;
  const schema = { $ref: `#/components/schemas/${schemaName(answers.name)}` };
  const example = exampleOf(schema, schemas);
  const others = Object.fromEntries(
    Object.entries(alsoAs).map(([type, write]) => [
      type,
      { schema: { type: 'string' }, example: write(example as never) },
    ]),
  );
  return { 'application/json': { schema, example }, ...others, ...(orPage ? PAGE : {}) };
}

function refusedBy(route: Route): Refused[] {
  return refusalsOf(route).map((refusal) => ({ ...route.filter.answerTo(refusal), refusal }));
}

function refusalResponse(refused: readonly Refused[], { operation }: Route): Json {
  const names = refused.map(({ refusal }) => Object.keys(refusal.headers ?? {}));
  const isForm = operation.orPage && refused[0]!.status === Number(HttpStatus.BAD_REQUEST); // to be filled in anew
  const always = names[0]!.filter((name) => names.every((others) => others.includes(name)));
  const json = { schema: schemaOf(refused.map(({ body }) => plain(body))), examples: examplesOf(refused) };
  return {
    description: refused.map(sentence).join('\n'),
    headers: headers(always, names.flat()),
    content: operation.answers === 'page' ? PAGE : { 'application/json': json, ...(isForm ? PAGE : {}) },
  };
}

function sentence({ body, refusal: { message } }: Refused): string {
  const type = typeOf(body);
  return type === undefined ? `- ${message}` : `- \`${type}\`: ${message}`;
}

/** By their types; those without one are numbered. */
function examplesOf(refused: readonly Refused[]): Json {
  const types = refused.map(({ body }) => typeOf(body));
  const entries = refused.map(({ body, refusal }, i): [string, Json] => [
    `${types[i] ?? 'untyped'}${types.indexOf(types[i]) < i ? `_${i}` : ''}`,
    { summary: refusal.message, value: plain(body) },
  ]);
  return Object.fromEntries(entries);
}

/** What clients branch on, as the filter has it: within `error`, or all of it where RFC 6749 says so. */
function typeOf(body: object): string | undefined {
  const { error } = body as { error: string | { type?: string } };
  return typeof error === 'string' ? error : error.type;
}

/** As JSON has it: what is undefined is not there. */
function plain(body: object): unknown {
  return JSON.parse(JSON.stringify(body));
}
