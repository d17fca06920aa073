import { asObject } from '../json/json-object.js';
import type { JsonObject } from '../json/json-object.js';
import type { ProviderUsage } from './token-counts.js';

/**
 * Parses the data of an event. Never throws.
 * @returns undefined if the data is not a JSON object
 */
export function parseEvent(data: string): ParsedEvent | undefined {
  const event = parse(data);
  if (!event) return undefined;
  const choices = findChoices(event);
  const reading = choices ? parseChunk(event, choices) : parseTyped(event);
  return isError(event) ? { ...reading, isError: true } : reading;
}

/** Facts about one stream event that the proxy needs. */
export interface ParsedEvent {
  /** Whether the event has content: text, a tool call, reasoning. */
  readonly hasContent: boolean;
  readonly usage?: ProviderUsage;
  /** Whether the usage is that of the whole response. */
  readonly isFinal: boolean;
  /** Whether the usage covers the stream up to this event, and so the whole response if the stream ends here. */
  readonly isCumulative: boolean;
  /** Whether the event has only usage, as the extra event for `include_usage`. */
  readonly isUsageOnly: boolean;
  /** Whether the provider failed or stopped the stream with an error. */
  readonly isError: boolean;
  /** Whether this is the last event of an OpenAI Responses stream. */
  readonly isLast: boolean;
}

const OTHER_EVENT: ParsedEvent = {
  hasContent: false,
  isFinal: false,
  isCumulative: false,
  isUsageOnly: false,
  isError: false,
  isLast: false,
};

/** Events that end a response of OpenAI's Responses API. */
const RESPONSE_ENDS = new Set(['response.completed', 'response.incomplete', 'response.failed']);

function isError(event: JsonObject): boolean {
  return (
    isNonEmptyString(event.error) || findError(event, event.type === 'error' ? 'error' : '') !== undefined
  );
}

/** Some providers omit `choices` in the event for `include_usage`. @returns undefined for other events */
function findChoices({ choices, type, usage }: ProviderUsage): readonly unknown[] | undefined {
  if (Array.isArray(choices)) return choices as readonly unknown[];
  return type === undefined && asObject(usage) ? [] : undefined;
}

/** Parses a chunk of OpenAI's chat completions or completions. */
function parseChunk(chunk: JsonObject, choices: readonly unknown[]): ParsedEvent {
  const usage = asObject(chunk.usage);
  return {
    hasContent: choices.some(hasContent),
    usage,
    isFinal:
      choices.length === 0 || choices.some((choice) => isNonEmptyString(asObject(choice)?.finish_reason)),
    isCumulative: true,
    isUsageOnly: usage !== undefined && choices.every(isEmptyChoice),
    isError: false,
    isLast: false,
  };
}

/** Whether a choice carries nothing. In the event for `include_usage`, OpenAI sends no choice and LiteLLM an empty one. */
function isEmptyChoice(choice: unknown): boolean {
  return Object.entries(asObject(choice) ?? { choice }).every(
    ([name, value]) =>
      value === null ||
      name === 'index' ||
      (name === 'text' && value === '') ||
      (name === 'delta' && isEmpty(value)),
  );
}

function hasContent(choice: unknown): boolean {
  const { delta, text } = asObject(choice) ?? {};
  if (isNonEmptyString(text)) return true;
  return Object.entries(asObject(delta) ?? {}).some(
    ([name, value]) => name !== 'role' && (isNonEmptyString(value) || isFilled(value)),
  );
}

/** Parses an event of Anthropic's messages or OpenAI's responses. */
function parseTyped(event: JsonObject): ParsedEvent {
  const { type } = event;
  if (type === 'message_start') return { ...OTHER_EVENT, usage: asObject(asObject(event.message)?.usage) };
  if (type === 'message_delta') return { ...OTHER_EVENT, usage: asObject(event.usage), isFinal: true };
  if (typeof type !== 'string') return OTHER_EVENT; // `type` may be any JSON value
  if (RESPONSE_ENDS.has(type)) {
    return { ...OTHER_EVENT, usage: asObject(asObject(event.response)?.usage), isFinal: true, isLast: true };
  }
  const isDelta = type === 'content_block_delta' || type.endsWith('.delta');
  return isDelta ? { ...OTHER_EVENT, hasContent: true } : OTHER_EVENT;
}

/** Some providers send empty lists together with the role. */
function isFilled(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !isEmpty(value);
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function isNonEmptyString(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

/** Error types that another upstream may not have: the provider is overloaded or failed. */
const SERVER_ERROR = /overloaded|server_error|api_error|internal|unavailable|timeout/i;

/** Status as text, which some providers send. */
const STATUS = /^[45]\d\d$/;

/** Matches every JSON text with a member `error`, escaped names included. */
const MAY_HAVE_ERROR = /"error"|\\u/;

/** Whether an event reports a failure of the provider, and not an error in the request. Never throws. */
export function isServerError(name: string, data: string): boolean {
  if (name !== 'error' && !MAY_HAVE_ERROR.test(data)) return false; // parsing costs more than every other step
  const event = parse(data);
  const error = findError(event, name);
  if (!error) return false;
  const { type, code } = error;
  const status = typeof code === 'string' && STATUS.test(code) ? Number(code) : code;
  if (typeof status === 'number' && status >= 400) return status >= 500;
  return [type, code].some((word) => typeof word === 'string' && SERVER_ERROR.test(word));
}

function findError(event: JsonObject | undefined, name: string): JsonObject | undefined {
  const failed = event?.type === 'response.failed' ? asObject(event.response) : event;
  const error = asObject(failed?.error);
  // Responses events and vLLM have the error members at the top level.
  return error ?? (name === 'error' || event?.object === 'error' ? event : undefined);
}

function parse(data: string): JsonObject | undefined {
  try {
    return asObject(JSON.parse(data));
  } catch {
    return undefined;
  }
}
