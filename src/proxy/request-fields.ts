import type { IncomingHttpHeaders } from 'node:http';
import { storableText } from '../common/text.js';
import { EMPTY } from './empty.js';
import { readObject } from './json-members.js';
import type { MemberSpan, ObjectText } from './json-members.js';

const MODEL_LIMIT = 200;
const WANTED = ['model', 'stream', 'stream_options'];
/** Visible ASCII without escapes: the names of nearly all models. */
const PLAIN_STRING = /^"[\x20\x21\x23-\x5b\x5d-\x7e]*"$/;
const CHAT_COMPLETIONS = /^\/v1\/chat\/completions\/?$/;

/** What the proxy needs to know of a request's body; the rest of it is passed on unseen. */
export interface RequestFields {
  /** At most 200 characters of it; null where there is none to be read. */
  readonly model: string | null;
  /** Whether the answer is asked for as an event stream. */
  readonly stream: boolean;
  /** As it came. */
  readonly body: Buffer;
  /** The body that asks for usage in the client's stead, who does not; undefined where that is not called for. */
  readonly bodyForUsage?: Buffer;
}

/** Of a body that cannot be read, or that is not here yet. */
export const UNREAD: RequestFields = { model: null, stream: false, body: EMPTY };

/** Never throws: a body that is not what it should be is the upstream's to refuse. */
export function readFields(path: string, headers: IncomingHttpHeaders, body: Buffer): RequestFields {
  const object = headers['content-encoding'] === undefined ? readObject(body, WANTED) : undefined;
  if (!object) return body.length === 0 ? UNREAD : { model: null, stream: false, body };
  const model = modelIn(body, object.members.get('model'));
  const stream = isTrue(body, object.members.get('stream'));
  const bodyForUsage = stream && CHAT_COMPLETIONS.test(path) ? askForUsage(body, object) : undefined;
  return { model, stream, body, bodyForUsage };
}

function modelIn(body: Buffer, span: MemberSpan | undefined): string | null {
  if (!span) return null;
  const text = body.toString('latin1', span.start, span.end);
  if (PLAIN_STRING.test(text)) return text.slice(1, Math.min(text.length - 1, MODEL_LIMIT + 1));
  try {
    const value: unknown = JSON.parse(body.toString('utf8', span.start, span.end));
    return typeof value === 'string' ? storableText(value, MODEL_LIMIT) : null;
  } catch {
    return null;
  }
}

function isTrue(body: Buffer, span: MemberSpan | undefined): boolean {
  return span !== undefined && body.toString('latin1', span.start, span.end) === 'true';
}

/**
 * The body with `stream_options.include_usage: true`, every other byte as it was; undefined where it is there
 * already, or where there is no telling how to add it.
 */
function askForUsage(body: Buffer, { contentStart, members }: ObjectText): Buffer | undefined {
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

/** @param text in ASCII */
function splice(body: Buffer, start: number, end: number, text: string): Buffer {
  const behind = start + text.length;
  const spliced = Buffer.allocUnsafe(behind + body.length - end);
  body.copy(spliced, 0, 0, start);
  spliced.write(text, start, 'latin1');
  body.copy(spliced, behind, end);
  return spliced;
}
