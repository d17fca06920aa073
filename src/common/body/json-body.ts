import { createParamDecorator } from '@nestjs/common';
import type { ExecutionContext, PipeTransform, ArgumentMetadata, Type } from '@nestjs/common';
import { ApiExtraModels } from '@nestjs/swagger';
import { plainToInstance } from 'class-transformer';
import { getMetadataStorage, validate, validateSync } from 'class-validator';
import type { ValidationError } from 'class-validator';
import type { Request } from 'express';
import { readBytes } from './body-bytes.js';
import { BadRequest, InvalidField } from '../api/domain-error.js';

type JsonObject = Record<string, unknown>;

/**
 * Reads, parses and validates the request's body. The parameter's class defines the members and their rules.
 *
 * The body is read after the guards, when the handler's arguments are collected. A request without permission is rejected
 * before its body is read.
 */
export const JsonBody = (): ParameterDecorator => jsonBody('required');

/** {@link JsonBody} for which an absent body and `null` count as `{}`. Some generated clients send `null` for no body. */
export const OptionalJsonBody = (): ParameterDecorator => jsonBody('optional');

type Presence = 'required' | 'optional';

const JSON_BODY = 'mintkeep:json-body';

/** Body parameter of a handler. */
export interface JsonBodyOf {
  readonly type: Type<object>;
  readonly presence: Presence;
}

/** Body parameter of a handler; undefined if it has none. */
export function jsonBodyOf(handler: object): JsonBodyOf | undefined {
  return Reflect.getMetadata(JSON_BODY, handler) as JsonBodyOf | undefined;
}

function jsonBody(presence: Presence): ParameterDecorator {
  return (target, name, index) => {
    const types = Reflect.getMetadata('design:paramtypes', target, name!) as Type<object>[];
    const body: JsonBodyOf = { type: types[index]!, presence };
    const handler = Object.getOwnPropertyDescriptor(target, name!)!;
    readJsonBody(presence, new FieldsPipe())(target, name, index);
    Reflect.defineMetadata(JSON_BODY, body, handler.value as object);
    ApiExtraModels(body.type)(target, name, handler);
  };
}

const readJsonBody = createParamDecorator((presence: Presence, context: ExecutionContext) =>
  readJson(context.switchToHttp().getRequest<Request>(), presence),
);

/** The JSON value null. White space around it is allowed up to a bound, so that large bodies are not read twice. */
const NULL = /^[ \t\r\n]{0,60}null[ \t\r\n]{0,60}$/;
const NULL_MAX_BYTES = 64;

async function readJson(request: Request, presence: Presence): Promise<JsonObject> {
  const bytes = await readBytes(request);
  const isAbsent =
    bytes.length === 0 || (bytes.length <= NULL_MAX_BYTES && NULL.test(bytes.toString('latin1')));
  return presence === 'optional' && isAbsent ? {} : parseJsonObject(bytes);
}

/** 400 for a body that is not a JSON object. */
export class InvalidJson extends BadRequest {
  constructor(expected = 'a JSON object in UTF-8') {
    super(`invalid JSON: the body must be ${expected}`);
  }
}

/** @throws InvalidJson when it is not UTF-8, not JSON, or not an object */
export function parseJsonObject(bytes: Buffer): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    throw new InvalidJson('a JSON object in UTF-8');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new InvalidJson('an object');
  return value as JsonObject;
}

/** Turns a parsed body into an instance of the parameter's class. @throws InvalidField for the first bad member */
class FieldsPipe implements PipeTransform<JsonObject, Promise<object>> {
  async transform(body: JsonObject, { metatype }: ArgumentMetadata): Promise<object> {
    const fields = toFields(metatype as Type<object>, body);
    const [error] = await validate(fields, { validationError: { target: false, value: false } });
    if (error) throw toInvalidField(error);
    return fields;
  }
}

/**
 * Picks the members that the class has rules for. The rule of a nested member parses the value. Any other nested value is
 * replaced by a wrong one.
 */
function toFields(dto: Type<object>, body: JsonObject): object {
  const flat: JsonObject = {};
  const parsed: JsonObject = {};
  for (const { propertyName, context } of rulesOf(dto)) {
    const value = Object.hasOwn(body, propertyName) ? body[propertyName] : undefined;
    const { nested } = (context ?? {}) as FieldContext;
    if (value === undefined || (value === null && !nested?.isNullable)) continue;
    if (nested) parsed[propertyName] = nested.parse(value);
    else flat[propertyName] = typeof value === 'object' ? {} : value;
  }
  return Object.assign(plainToInstance(dto, flat), parsed);
}

function rulesOf(dto: Type<object>): readonly { propertyName: string; context?: unknown }[] {
  const rules = getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false);
  // `@IsOptional()` is a rule without a context, beside the rule of the member.
  return rules.filter(({ context }) => context !== undefined);
}

/** Lists the rejection of a wrong type for each member that the class has rules for. */
export function fieldRejections(dto: Type<object>): InvalidField[] {
  const wrong = Object.fromEntries(rulesOf(dto).map(({ propertyName }) => [propertyName, WRONG]));
  const fields = toFields(dto, wrong);
  return validateSync(fields, { validationError: { target: false, value: false } }).map(toInvalidField);
}

/** Accepted by no member: neither a text, a number, a flag nor an object, and a list with an entry that is none of them. */
const WRONG = [[]];

function toInvalidField({ property, constraints, contexts }: ValidationError): InvalidField {
  const [rule, message = `${property} is not valid`] = Object.entries(constraints ?? {})[0] ?? [];
  const type = rule === undefined ? undefined : (contexts?.[rule] as FieldContext | undefined)?.type;
  return new InvalidField(type, message);
}

/** `context` of a rule in class-validator. */
export interface FieldContext {
  /** The error type of the field, such as `invalid_name`. */
  type?: string;
  /** Set for a member whose value is an array or an object. */
  nested?: { readonly parse: (value: unknown) => unknown; readonly isNullable: boolean };
}
