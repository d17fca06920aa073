import type { IncomingHttpHeaders } from 'node:http';
import { storableText } from '../../common/text/text.js';
import { EMPTY_BUFFER } from '../wire/empty-buffer.js';
import { readObject } from '../json/json-members.js';
import type { MemberSpan, ObjectText } from '../json/json-members.js';

const MAX_MODEL_LENGTH = 200;
const WANTED = ['model', 'stream', 'stream_options'];
/** JSON string of printable ASCII without escapes. Nearly all model names match. */
const PLAIN_STRING = /^"[\x20\x21\x23-\x5b\x5d-\x7e]*"$/;
const CHAT_COMPLETIONS = /^\/v1\/chat\/completions\/?$/;

/** Parses the fields that the proxy needs. Never throws: only the upstream rejects an invalid body. */
export function parseFields(path: string, headers: IncomingHttpHeaders, body: Buffer): RequestFields {
  const object = headers['content-encoding'] === undefined ? readObject(body, WANTED) : undefined;
  if (!object) return body.length === 0 ? NO_FIELDS : { model: null, stream: false, body };
  const model = parseModel(body, object.members.get('model'));
  const stream = isTrue(body, object.members.get('stream'));
  const bodyForUsage = stream && CHAT_COMPLETIONS.test(path) ? addUsageOption(body, object) : undefined;
  return { model, stream, body, bodyForUsage };
}

function parseModel(body: Buffer, span: MemberSpan | undefined): string | null {
  if (!span) return null;
  const text = body.toString('latin1', span.start, span.end);
  if (PLAIN_STRING.test(text)) return text.slice(1, Math.min(text.length - 1, MAX_MODEL_LENGTH + 1));
  try {
    const value: unknown = JSON.parse(body.toString('utf8', span.start, span.end));
    return typeof value === 'string' ? storableText(value, MAX_MODEL_LENGTH) : null;
  } catch {
    return null;
  }
}

function isTrue(body: Buffer, span: MemberSpan | undefined): boolean {
  return span !== undefined && body.toString('latin1', span.start, span.end) === 'true';
}

/**
 * Adds `stream_options.include_usage: true` to a body and changes no other byte.
 * @returns undefined if the body has the option already, or its `stream_options` is not an object
 */
function addUsageOption(body: Buffer, { contentStart, members }: ObjectText): Buffer | undefined {
  const options = members.get('stream_options');
  if (!options) return splice(body, contentStart, contentStart, '"stream_options":{"include_usage":true},');
  if (body.toString('latin1', options.start, options.end) === 'null') {
    return splice(body, options.start, options.end, '{"include_usage":true}');
  }
  const object = readObject(body, ['include_usage'], options.start, options.end);
  if (!object) return undefined;
  const { contentStart: at, isEmpty } = object;
  const includeUsage = object.members.get('include_usage');
  if (!includeUsage) return splice(body, at, at, `"include_usage":true${isEmpty ? '' : ','}`);
  if (isTrue(body, includeUsage)) return undefined;
  return splice(body, includeUsage.start, includeUsage.end, 'true');
}

/** Copies a body and replaces the bytes from `start` to `end`. @param text ASCII only */
function splice(body: Buffer, start: number, end: number, text: string): Buffer {
  const textEnd = start + text.length;
  const spliced = Buffer.allocUnsafe(textEnd + body.length - end);
  body.copy(spliced, 0, 0, start);
  spliced.write(text, start, 'latin1');
  body.copy(spliced, textEnd, end);
  return spliced;
}

/** Fields of a request's body that the proxy needs. The rest of the body is relayed without being parsed. */
export interface RequestFields {
  /** Name of the model, at most 200 characters; null if the body has none. */
  readonly model: string | null;
  /** Whether the client requests an event stream. */
  readonly stream: boolean;
  /** Body as received. */
  readonly body: Buffer;
  /** Copy of the body with `stream_options.include_usage`; undefined if the option must not or need not be added. */
  readonly bodyForUsage?: Buffer;
}

/** Fields of a body that was not read yet or is empty. */
export const NO_FIELDS: RequestFields = { model: null, stream: false, body: EMPTY_BUFFER };
