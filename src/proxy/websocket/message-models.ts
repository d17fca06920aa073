/** Text of a JSON member `model` with a string as value. Names with escapes are rejected before. */
const MODEL = /"model"\s*:\s*("(?:[^"\\]|\\.)*")/g;
/** Escaped ASCII letter: no JSON writer produces it, and it could hide the name of a member. */
const ESCAPED_LETTER = /(?<!\\)(?:\\\\)*\\u00(?:4[1-9a-f]|5[0-9a]|6[1-9a-f]|7[0-9a])/i;
const STARTS_RESPONSE = '"response.create"';

/** Models that a message of a client names. */
export interface MessageModels {
  readonly names: readonly string[];
  /** Whether the message starts a response. */
  readonly startsResponse: boolean;
}

/**
 * Finds every model that a message names, at any depth: sessions, responses and transcriptions have their own. More
 * names than the upstream uses may be found, but never fewer.
 * @returns undefined if the message may hide a name
 */
export function findMessageModels(text: string): MessageModels | undefined {
  if (ESCAPED_LETTER.test(text)) return undefined;
  const names = [...text.matchAll(MODEL)].map(([, value]) => parseName(value!));
  if (names.includes(undefined)) return undefined;
  return { names: names as string[], startsResponse: text.includes(STARTS_RESPONSE) };
}

function parseName(value: string): string | undefined {
  try {
    return JSON.parse(value) as string;
  } catch {
    return undefined; // a control character within the name
  }
}
