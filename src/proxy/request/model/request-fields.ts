import type { IncomingHttpHeaders } from 'node:http';
import { storableText } from '../../../common/text/text.js';
import { EMPTY_BUFFER } from '../../wire/empty-buffer.js';
import { OPEN_BRACE, readObject, skipSpace } from '../../json/json-members.js';
import type { MemberSpan, ObjectText } from '../../json/json-members.js';
import type { Edit } from './edit.js';
import { findFormModel, isFormData } from './form-model.js';
import { findPathModel } from './requested-model.js';
import type { RequestedModel } from './requested-model.js';

/** Maximum length of a model in a usage record; in code points. */
const RECORDED_MODEL_LENGTH = 200;
const WANTED = ['model', 'stream', 'stream_options'];
/** JSON string of printable ASCII without escapes. Nearly all model names match. */
const PLAIN_STRING = /^"[\x20\x21\x23-\x5b\x5d-\x7e]*"$/;
const PLAIN = /^[\x20-\x7e]*$/;
/** Paths whose streams report usage only if `stream_options.include_usage` is set. */
const COMPLETIONS = /^\/v1\/(?:chat\/)?completions\/?$/;

/** Parses the fields that the proxy needs. Never throws: only the upstream rejects an invalid body. */
export function parseFields(path: string, headers: IncomingHttpHeaders, body: Buffer): RequestFields {
  const contentType = readableType(headers);
  const isJson = contentType !== undefined && !isFormData(contentType);
  const object = isJson ? readObject(body, WANTED) : undefined;
  if (!object) return parseOther(path, contentType, body);
  const span = object.members.get('model');
  const named = parseModel(body, span);
  const stream = isTrue(body, object.members.get('stream'));
  const usageEdit = stream && COMPLETIONS.test(path) ? findUsageEdit(body, object) : undefined;
  const requestedModel = findPathModel(path) ?? named;
  const isModelUnclear = span !== undefined && (named === undefined || span.isRepeated);
  return { model: recordedModel(requestedModel), requestedModel, isModelUnclear, stream, body, usageEdit };
}

/** Parses a request whose body is not a JSON object. @param contentType undefined if the body cannot be read */
function parseOther(path: string, contentType: string | undefined, body: Buffer): RequestFields {
  const span = findFormModel(body, contentType);
  const named = span && ({ name: body.toString('utf8', span.start, span.end), place: 'form', span } as const);
  const requestedModel = findPathModel(path) ?? named;
  if (!requestedModel && body.length === 0) return NO_FIELDS;
  const isModelUnclear = isFormData(contentType) && startsLikeJson(body);
  return { ...NO_FIELDS, model: recordedModel(requestedModel), requestedModel, isModelUnclear, body };
}

/** @returns the content type, empty if there is none; undefined for a compressed body */
function readableType(headers: IncomingHttpHeaders): string | undefined {
  const { 'content-encoding': encoding = 'identity', 'content-type': type = '' } = headers;
  return encoding.toLowerCase() === 'identity' ? type : undefined;
}

/** Whether upstreams that ignore the content type would take the preamble of a form for JSON. */
function startsLikeJson(body: Buffer): boolean {
  return body[skipSpace(body, 0, body.length)] === OPEN_BRACE;
}

function parseModel(body: Buffer, span: MemberSpan | undefined): RequestedModel | undefined {
  if (!span) return undefined;
  const text = body.toString('latin1', span.start, span.end);
  if (PLAIN_STRING.test(text)) return { name: text.slice(1, -1), place: 'json', span };
  try {
    const value: unknown = JSON.parse(body.toString('utf8', span.start, span.end));
    return typeof value === 'string' ? { name: value, place: 'json', span } : undefined;
  } catch {
    return undefined;
  }
}

/** Name of a model as a usage record has it. */
export function recordedModel(model: Pick<RequestedModel, 'name'> | undefined): string | null {
  if (!model) return null;
  const { name } = model;
  const isStorable = name.length <= RECORDED_MODEL_LENGTH && PLAIN.test(name);
  return isStorable ? name : storableText(name, RECORDED_MODEL_LENGTH);
}

function isTrue(body: Buffer, span: MemberSpan | undefined): boolean {
  return span !== undefined && body.toString('latin1', span.start, span.end) === 'true';
}

/**
 * Creates the edit that adds `stream_options.include_usage: true` to a body.
 * @returns undefined if the body has the option already, or its `stream_options` is not an object
 */
function findUsageEdit(body: Buffer, { contentStart, members }: ObjectText): Edit | undefined {
  const options = members.get('stream_options');
  if (!options)
    return { start: contentStart, end: contentStart, text: '"stream_options":{"include_usage":true},' };
  if (body.toString('latin1', options.start, options.end) === 'null') {
    return { start: options.start, end: options.end, text: '{"include_usage":true}' };
  }
  const object = readObject(body, ['include_usage'], options.start, options.end);
  if (!object) return undefined;
  const { contentStart: at, isEmpty } = object;
  const includeUsage = object.members.get('include_usage');
  if (!includeUsage) return { start: at, end: at, text: `"include_usage":true${isEmpty ? '' : ','}` };
  if (isTrue(body, includeUsage)) return undefined;
  return { start: includeUsage.start, end: includeUsage.end, text: 'true' };
}

/** Fields of a request's body that the proxy needs. The rest of the body is relayed without being parsed. */
export interface RequestFields {
  /** Name of the model for the usage record, at most 200 characters; null if the request names none. */
  readonly model: string | null;
  /** Model that decides which upstreams serve the request; undefined if the request names none. */
  readonly requestedModel?: RequestedModel;
  /** Whether the body has several members `model`, or one that is not a string, or may be read as JSON and as a form. */
  readonly isModelUnclear: boolean;
  /** Whether the client requests an event stream. */
  readonly stream: boolean;
  /** Body as received. */
  readonly body: Buffer;
  /** Edit that adds `stream_options.include_usage`; undefined if the option must not or need not be added. */
  readonly usageEdit?: Edit;
}

/** Fields of a body that was not read yet or is empty. */
export const NO_FIELDS: RequestFields = {
  model: null,
  isModelUnclear: false,
  stream: false,
  body: EMPTY_BUFFER,
};
