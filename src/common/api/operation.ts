import { applyDecorators, SetMetadata } from '@nestjs/common';
import type { Type } from '@nestjs/common';
import { ApiExtraModels } from '@nestjs/swagger';
import type { DomainError } from './domain-error.js';
import type { Rejection } from './error.filter.js';
import type { MemberSchema } from './members.js';

export const OPERATION = 'mintkeep:operation';

/** Error class without constructor arguments, or an instance of any other error. */
type Rejected = (new () => DomainError) | Rejection;

/** Schemas of optional parameters, by name. */
export type ParameterSchemas = Readonly<Record<string, MemberSchema & { readonly description?: string }>>;

/** Details of a route for the OpenAPI document, in addition to its guards, parameters and body class. */
export interface OperationDetails {
  readonly description: string;
  /** Class of the response, `page` for HTML, `zip` for an archive; undefined if there is no body. */
  readonly response?: Type<object> | 'page' | 'zip';
  /** Whether the route also takes a form of a page, and then responds with a page or a redirect. */
  readonly hasPage?: boolean;
  /** Formatters of further media types, such as `text/csv`. */
  readonly otherFormats?: Readonly<Record<string, (response: never) => string>>;
  /** Further statuses with the body of {@link response}. */
  readonly otherStatuses?: readonly number[];
  /** Class of a JSON body that the handler reads itself. */
  readonly body?: Type<object>;
  /** Headers of a success, in addition to those of every route of its kind. */
  readonly responseHeaders?: readonly string[];
  /** Headers that only some successes have. */
  readonly optionalResponseHeaders?: readonly string[];
  /** Headers of a 303 in addition to `Location`; undefined if the route never redirects. */
  readonly redirectHeaders?: readonly string[];
  /** Rejections in addition to those of every route of its kind. */
  readonly rejects?: readonly Rejected[];
  readonly query?: ParameterSchemas;
  readonly headers?: ParameterSchemas;
  /** Fields of a form. */
  readonly form?: ParameterSchemas;
  /** Names in {@link form} that are required. */
  readonly requiredFormFields?: readonly string[];
}

export interface Operation extends OperationDetails {
  readonly id: string;
  readonly summary: string;
}

/**
 * Describes a route in the OpenAPI document.
 * @param id unique; the OpenAPI document inserts `Organization` after the first word for the team address
 */
export function Operation(id: string, summary: string, details: OperationDetails): MethodDecorator {
  const { response, body } = details;
  const models = [response, body].filter((type) => typeof type === 'function');
  return applyDecorators(SetMetadata(OPERATION, { id, summary, ...details }), ApiExtraModels(...models));
}
