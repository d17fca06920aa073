import { applyDecorators, SetMetadata } from '@nestjs/common';
import type { Type } from '@nestjs/common';
import { ApiExtraModels } from '@nestjs/swagger';
import type { DomainError } from './domain-error.js';
import type { Refusal } from './error.filter.js';
import type { MemberSchema } from './members.js';

export const OPERATION = 'mintkeep:operation';

/** A class whose instances say all there is to say, or an instance of one that has to be told more. */
export type Refused = (new () => DomainError) | Refusal;

/** Parameters by their names; none of them is required. */
export type ParameterSchemas = Readonly<Record<string, MemberSchema & { readonly description?: string }>>;

/** What the OpenAPI document says of a route beyond what its guards, its parameters and its body's class say. */
export interface OperationDetails {
  readonly description?: string;
  /** The class of the answer, or `page` for HTML; nothing where there is no body. */
  readonly answers?: Type<object> | 'page';
  /** Whether it may come from a form of a page, which is then answered with a page, or sent on. */
  readonly orPage?: boolean;
  /** Media types that the answer can be had in beside JSON, such as `text/csv`, and how it is written in them. */
  readonly alsoAs?: Readonly<Record<string, (answer: never) => string>>;
  /** Further statuses with the body of the answer. */
  readonly alsoWith?: readonly number[];
  /** The class of a JSON body that the handler reads itself. */
  readonly body?: Type<object>;
  /** Headers of success, beside those that every route of its kind has. */
  readonly sets?: readonly string[];
  /** Headers that success has sometimes. */
  readonly maySet?: readonly string[];
  /** Headers of a 303, beside `Location`; left out where nobody is sent on. */
  readonly sendsOn?: readonly string[];
  /** What it refuses beside what every route of its kind does. */
  readonly refuses?: readonly Refused[];
  readonly query?: ParameterSchemas;
  readonly headers?: ParameterSchemas;
  /** Fields of a form, for what takes one. */
  readonly form?: ParameterSchemas;
  /** Those of {@link form} that must be there. */
  readonly formRequires?: readonly string[];
}

export interface Operation extends OperationDetails {
  readonly id: string;
  readonly summary: string;
}

/**
 * Describes a route for integrators.
 * @param id unique; at the address of an organization, `Organization` comes after its first word
 */
export function Operation(id: string, summary: string, details: OperationDetails = {}): MethodDecorator {
  const { answers, body } = details;
  const models = [answers, body].filter((type) => typeof type === 'function');
  return applyDecorators(SetMetadata(OPERATION, { id, summary, ...details }), ApiExtraModels(...models));
}
