import { readObject } from '../json/json-members.js';
import type { MemberSpan } from '../json/json-members.js';

/** Text of a JSON member `model` with a string as value. Names with escapes are rejected before. */
const MODEL = /"model"\s*:\s*("(?:[^"\\]|\\.)*")/g;
/** Escaped ASCII letter: no JSON writer produces it, and it could hide the name of a member. */
const ESCAPED_LETTER = /(?<!\\)(?:\\\\)*\\u00(?:4[1-9a-f]|5[0-9a]|6[1-9a-f]|7[0-9a])/i;
/** Maximum number of different models that one message may name. */
export const MAX_MODELS = 32;
const STARTS_RESPONSE = 'response.create';
const MESSAGE_MEMBERS = ['type', 'model'];

/**
 * Finds every model that a message names, at any depth: sessions, responses and transcriptions have their own. More
 * names than the upstream uses may be found, but never fewer.
 * @returns undefined if the message may hide a name, or has more than {@link MAX_MODELS} different ones
 */
export function findMessageModels(text: string): readonly string[] | undefined {
  if (ESCAPED_LETTER.test(text)) return undefined;
  const values = new Set<string>();
  for (const [, value] of text.matchAll(MODEL)) {
    values.add(value!);
    if (values.size > MAX_MODELS) return undefined;
  }
  const names = [...values].map(parseString);
  return names.includes(undefined) ? undefined : (names as string[]);
}

/** Message of a client that is a JSON object. */
export interface ClientMessage {
  readonly startsResponse: boolean;
  /** Member `model`; undefined if it is absent or not a string. */
  readonly model: string | undefined;
}

/** @returns undefined if the message is not a JSON object */
export function readClientMessage(message: Buffer): ClientMessage | undefined {
  const members = readObject(message, MESSAGE_MEMBERS)?.members;
  if (!members) return undefined;
  const type = members.get('type');
  const model = members.get('model');
  return {
    // Programs do not agree on which of several types counts.
    startsResponse: type !== undefined && (type.isRepeated || readString(message, type) === STARTS_RESPONSE),
    model: model && readString(message, model),
  };
}

function readString(message: Buffer, { start, end }: MemberSpan): string | undefined {
  return parseString(message.toString('utf8', start, end));
}

function parseString(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined; // such as a control character within a name
  }
}
