import { asObject } from './json-object.js';
import type { JsonObject } from './json-object.js';
import type { ProviderUsage } from './token-counts.js';

/** What one event of a stream says that the proxy needs to know. */
export interface EventReading {
  /** Whether it carries content: text, a tool call, reasoning. */
  readonly hasContent: boolean;
  readonly usage?: ProviderUsage;
  /** Whether the usage is that of the whole answer. */
  readonly isFinal: boolean;
  /** Whether the usage is that of what has come so far: of the whole answer when nothing follows. */
  readonly isCumulative: boolean;
  /** Whether it holds usage and says nothing else, as the extra one for `include_usage` does. */
  readonly isUsageOnly: boolean;
  /** Whether it says that the provider has failed, or refuses to go on. */
  readonly isError: boolean;
  /** Whether it is the last event of OpenAI's Responses. */
  readonly isLast: boolean;
}

const NOTHING: EventReading = {
  ...{ hasContent: false, isFinal: false, isCumulative: false, isUsageOnly: false },
  ...{ isError: false, isLast: false },
};

/** Events that end an answer of OpenAI's Responses. */
const RESPONSE_ENDS = new Set(['response.completed', 'response.incomplete', 'response.failed']);

/**
 * Never throws.
 * @param data of the event
 * @returns undefined where it is no JSON object
 */
export function readEvent(data: string): EventReading | undefined {
  const event = parse(data);
  if (!event) return undefined;
  const choices = choicesOf(event);
  const reading = choices ? readChunk(event, choices) : readTyped(event);
  return isError(event) ? { ...reading, isError: true } : reading;
}

function isError(event: JsonObject): boolean {
  return isString(event.error) || errorIn(event, event.type === 'error' ? 'error' : '') !== undefined;
}

/** Those of a chunk: some leave them out of the one for `include_usage`. @returns undefined where it is another event */
function choicesOf({ choices, type, usage }: ProviderUsage): readonly unknown[] | undefined {
  if (Array.isArray(choices)) return choices as readonly unknown[];
  return type === undefined && asObject(usage) ? [] : undefined;
}

/** A chunk of OpenAI's chat completions or completions. */
function readChunk(chunk: JsonObject, choices: readonly unknown[]): EventReading {
  const usage = asObject(chunk.usage);
  return {
    hasContent: choices.some(hasContent),
    usage,
    isFinal: choices.length === 0 || choices.some((choice) => isString(asObject(choice)?.finish_reason)),
    isCumulative: true,
    isUsageOnly: usage !== undefined && choices.every(saysNothing),
    isError: false,
    isLast: false,
  };
}

/** OpenAI has no choice beside the usage for `include_usage`, LiteLLM an empty one. */
function saysNothing(choice: unknown): boolean {
  return Object.entries(asObject(choice) ?? { choice }).every(
    ([name, value]) => value === null || name === 'index' || (name === 'delta' && isEmpty(value)),
  );
}

function hasContent(choice: unknown): boolean {
  const { delta, text } = asObject(choice) ?? {};
  if (isString(text)) return true;
  return Object.entries(asObject(delta) ?? {}).some(
    ([name, value]) => name !== 'role' && (isString(value) || isFilled(value)),
  );
}

/** An event of Anthropic's messages or of OpenAI's responses. */
function readTyped(event: JsonObject): EventReading {
  const { type } = event;
  if (type === 'message_start') return { ...NOTHING, usage: asObject(asObject(event.message)?.usage) };
  if (type === 'message_delta') return { ...NOTHING, usage: asObject(event.usage), isFinal: true };
  if (typeof type !== 'string') return NOTHING; // to make a text of what is none may throw
  if (RESPONSE_ENDS.has(type)) {
    return { ...NOTHING, usage: asObject(asObject(event.response)?.usage), isFinal: true, isLast: true };
  }
  const isDelta = type === 'content_block_delta' || type.endsWith('.delta');
  return isDelta ? { ...NOTHING, hasContent: true } : NOTHING;
}

/** Some send empty lists beside the role. */
function isFilled(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !isEmpty(value);
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function isString(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

/** Kinds of errors that another upstream may not have: the provider is overloaded, or has failed. */
const SERVER_ERROR = /overloaded|server_error|api_error|internal|unavailable|timeout/i;

/** Some write a status as text. */
const STATUS = /^[45]\d\d$/;

/** Every text with a member `error` has it: by the letter, or with escapes in its name. */
const MAY_HAVE_ERROR = /"error"|\\u/;

/** Whether an event says that the provider has failed, rather than that it refuses the request. Never throws. */
export function isServerError(name: string, data: string): boolean {
  if (name !== 'error' && !MAY_HAVE_ERROR.test(data)) return false; // to parse it takes longer than all else
  const event = parse(data);
  const error = errorIn(event, name);
  if (!error) return false;
  const { type, code } = error;
  const status = typeof code === 'string' && STATUS.test(code) ? Number(code) : code;
  if (typeof status === 'number' && status >= 400) return status >= 500;
  return [type, code].some((word) => typeof word === 'string' && SERVER_ERROR.test(word));
}

function errorIn(event: JsonObject | undefined, name: string): JsonObject | undefined {
  const failed = event?.type === 'response.failed' ? asObject(event.response) : event;
  const error = asObject(failed?.error);
  // Responses put it beside the type, and vLLM beside the kind of object.
  return error ?? (name === 'error' || event?.object === 'error' ? event : undefined);
}

function parse(data: string): JsonObject | undefined {
  try {
    return asObject(JSON.parse(data));
  } catch {
    return undefined;
  }
}
