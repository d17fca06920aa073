import { HttpStatus } from '@nestjs/common';
import type { Type } from '@nestjs/common';
import {
  EXCEPTION_FILTERS_METADATA,
  HEADERS_METADATA,
  HTTP_CODE_METADATA,
} from '@nestjs/common/constants.js';
import { IS_PUBLIC } from '../auth/public.decorator.js';
import { ErrorFilter } from '../common/api/error.filter.js';
import { jsonBodyOf } from '../common/body/json-body.js';
import type { JsonBodyOf } from '../common/body/json-body.js';
import { OPERATION } from '../common/api/operation.js';
import type { Operation } from '../common/api/operation.js';
import { isPathId } from '../common/api/path-id.js';
import { ADMIN_ONLY, OWNED } from '../organizations/scope/owner-scope.js';

const ORGANIZATION = 'organizationId';

/** Properties of a route, read from its decorators. */
export interface Route {
  readonly method: string;
  /** Path in Nest's form: `/me/projects/{projectId}`. */
  readonly path: string;
  readonly operation: Operation;
  /** Names of the path parameters in their order, as in the code: `organizationId`. */
  readonly parameters: readonly string[];
  readonly isPublic: boolean;
  /** Whether the route exists below `/me` and below `/me/organizations/{id}`. */
  readonly isOwned: boolean;
  /** Whether the path names an organization. The caller may not be a member of it. */
  readonly isInOrganization: boolean;
  /** Whether a path parameter is a numeric id, which may be malformed. */
  readonly hasIds: boolean;
  /** Completes the message "only admins can ...". */
  readonly adminOnly?: string;
  readonly body?: JsonBodyOf;
  readonly successStatus: number;
  /** Headers of every successful response. */
  readonly headers: readonly { name: string; value: string }[];
  /** Formats rejections. */
  readonly filter: ErrorFilter;
}

/**
 * Reads the decorators of a route.
 * @param name name of the handler
 * @returns undefined if the handler has no `@Operation`
 */
export function readRoute(method: string, path: string, controller: Type, name: string): Route | undefined {
  const handler = (controller.prototype as Record<string, object>)[name]!;
  const read = <T>(key: string) => Reflect.getMetadata(key, handler) as T | undefined;
  const operation = read<Operation>(OPERATION);
  if (!operation) return undefined;
  const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const isInOrganization = parameters.includes(ORGANIZATION);
  return {
    method,
    path,
    operation,
    parameters,
    isInOrganization,
    isOwned: Reflect.hasMetadata(OWNED, controller),
    isPublic: [handler, controller].some((target) => Reflect.getMetadata(IS_PUBLIC, target) === true),
    hasIds: parameters.some(isPathId),
    adminOnly: isInOrganization ? read<string>(ADMIN_ONLY) : undefined,
    body: jsonBodyOf(handler) ?? (operation.body && { type: operation.body, presence: 'required' }),
    successStatus: read<number>(HTTP_CODE_METADATA) ?? defaultStatus(method),
    headers: read<Route['headers']>(HEADERS_METADATA) ?? [],
    filter: findFilter(controller),
  };
}

function defaultStatus(method: string): number {
  return method === 'post' ? HttpStatus.CREATED : HttpStatus.OK;
}

/** The filter without its dependencies, which {@link ErrorFilter.toResponse} does not need. */
function findFilter(controller: Type): ErrorFilter {
  const filters = Reflect.getMetadata(EXCEPTION_FILTERS_METADATA, controller) as
    Type<ErrorFilter>[] | undefined;
  return Object.create((filters?.[0] ?? ErrorFilter).prototype as ErrorFilter) as ErrorFilter;
}

/**
 * Path in the document: `/me/organizations/{id}/projects/{project_id}`. The first id is named `id` if it is an
 * organization or a personal project.
 */
export function documentPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => `{${documentName(path, name)}}`);
}

function documentName(path: string, name: string): string {
  const [first] = /\w+(?=\})/.exec(path) ?? [];
  if (name === first && ['organizationId', 'projectId'].includes(name)) return 'id';
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** `createProject` below `/me`, `createOrganizationProject` below `/me/organizations/{id}`. */
export function operationId({ operation: { id }, isOwned, isInOrganization }: Route): string {
  return isOwned && isInOrganization ? id.replace(/^[a-z]+/, '$&Organization') : id;
}

/** Whether the response has an ETag. Express adds one to every successful GET. */
export function hasEntityTag({ method, operation }: Route): boolean {
  return method === 'get' && (typeof operation.response === 'function' || operation.response === 'zip');
}
