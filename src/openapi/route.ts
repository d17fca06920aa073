import { HttpStatus } from '@nestjs/common';
import type { Type } from '@nestjs/common';
import {
  EXCEPTION_FILTERS_METADATA,
  HEADERS_METADATA,
  HTTP_CODE_METADATA,
} from '@nestjs/common/constants.js';
import { IS_PUBLIC } from '../auth/public.decorator.js';
import { ErrorFilter } from '../common/error.filter.js';
import { jsonBodyOf } from '../common/json-body.js';
import type { JsonBodyOf } from '../common/json-body.js';
import { OPERATION } from '../common/operation.js';
import type { Operation } from '../common/operation.js';
import { isPathId } from '../common/path-id.js';
import { ADMIN_ONLY, OWNED } from '../organizations/owner-scope.js';

const ORGANIZATION = 'organizationId';

/** A route as its decorators describe it. */
export interface Route {
  readonly method: string;
  /** As Nest has it: `/me/projects/{projectId}`. */
  readonly path: string;
  readonly operation: Operation;
  /** Names of the path's parameters, in their order, as the code has them: `organizationId`. */
  readonly parameters: readonly string[];
  readonly isPublic: boolean;
  /** Whether the same is at the personal address and at that of an organization. */
  readonly isOwned: boolean;
  /** At the address of an organization, which may be somebody else's. */
  readonly inOrganization: boolean;
  /** Whether a path parameter is an id of ours, and so may be malformed. */
  readonly hasIds: boolean;
  /** What completes "only admins can ...". */
  readonly adminOnly?: string;
  readonly body?: JsonBodyOf;
  readonly successStatus: number;
  /** Headers that every answer of success has. */
  readonly headers: readonly { name: string; value: string }[];
  /** Turns refusals into answers. */
  readonly filter: ErrorFilter;
}

/**
 * @param name of the handler
 * @returns undefined for a route that says nothing of itself
 */
export function routeOf(method: string, path: string, controller: Type, name: string): Route | undefined {
  const handler = (controller.prototype as Record<string, object>)[name]!;
  const read = <T>(key: string) => Reflect.getMetadata(key, handler) as T | undefined;
  const operation = read<Operation>(OPERATION);
  if (!operation) return undefined;
  const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const inOrganization = parameters.includes(ORGANIZATION);
  return {
    ...{ method, path, operation, parameters, inOrganization },
    isOwned: Reflect.hasMetadata(OWNED, controller),
    isPublic: [handler, controller].some((target) => Reflect.getMetadata(IS_PUBLIC, target) === true),
    hasIds: parameters.some(isPathId),
    adminOnly: inOrganization ? read<string>(ADMIN_ONLY) : undefined,
    body: jsonBodyOf(handler) ?? (operation.body && { type: operation.body, presence: 'required' }),
    successStatus: read<number>(HTTP_CODE_METADATA) ?? defaultStatus(method),
    headers: read<Route['headers']>(HEADERS_METADATA) ?? [],
    filter: filterOf(controller),
  };
}

function defaultStatus(method: string): number {
  return method === 'post' ? HttpStatus.CREATED : HttpStatus.OK;
}

/** Without what it is constructed with: {@link ErrorFilter.answerTo} needs nothing of it. */
function filterOf(controller: Type): ErrorFilter {
  const filters = Reflect.getMetadata(EXCEPTION_FILTERS_METADATA, controller) as
    Type<ErrorFilter>[] | undefined;
  return Object.create((filters?.[0] ?? ErrorFilter).prototype as ErrorFilter) as ErrorFilter;
}

/**
 * The path as the document has it: `/me/organizations/{id}/projects/{project_id}`. Whose organization or personal
 * project it is comes first and is called `id`.
 */
export function documentPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => `{${documentName(path, name)}}`);
}

function documentName(path: string, name: string): string {
  const [first] = /\w+(?=\})/.exec(path) ?? [];
  if (name === first && ['organizationId', 'projectId'].includes(name)) return 'id';
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** `createProject`, and `createOrganizationProject` where the same is at the address of an organization. */
export function operationId({ operation: { id }, isOwned, inOrganization }: Route): string {
  return isOwned && inOrganization ? id.replace(/^[a-z]+/, '$&Organization') : id;
}

/** Express tags what it answers to a GET. */
export function hasEntityTag({ method, operation }: Route): boolean {
  return method === 'get' && typeof operation.answers === 'function';
}
