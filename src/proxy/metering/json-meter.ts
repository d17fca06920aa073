import { EMPTY_BUFFER } from '../wire/empty-buffer.js';
import { BufferList } from '../wire/buffer-list.js';
import { NO_USAGE, toMeteredUsage } from './meter.js';
import type { Meter, MeteredUsage } from './meter.js';
import { BACKSLASH, CLOSE_BRACE, COLON, OPEN_BRACE, OPEN_BRACKET, QUOTE } from '../json/json-members.js';
import { readObject, skipSpace, skipValue } from '../json/json-members.js';
import { asObject } from '../json/json-object.js';

/** Maximum size of the end of a response that is kept. Usage follows the content. */
const KEPT_BYTES = 1_048_576;
/** Size of the end that is searched first, so that most responses need not be joined. */
const TAIL_BYTES = 4_096;
/** Maximum number of keys that are tried from the end. Each try may read everything after the key. */
const SEARCH_LIMIT = 8;
const USAGE_KEY = Buffer.from('"usage"');

/** Reads the `usage` of a response that is one JSON object, without parsing the other members. */
export class JsonMeter implements Meter {
  private contentTime?: number;
  private readonly end = new BufferList();
  private responseBytes = 0;

  firstContentAt(): number | undefined {
    return this.contentTime;
  }

  transform(chunk: Buffer): Buffer {
    this.contentTime ??= performance.now();
    this.responseBytes += chunk.length;
    this.end.append(chunk);
    this.end.keepLast(KEPT_BYTES);
    return chunk;
  }

  flush(): Buffer {
    return EMPTY_BUFFER;
  }

  readUsage(isComplete: boolean, provider?: string): MeteredUsage {
    if (!isComplete) return NO_USAGE;
    const tail = this.end.tail(TAIL_BYTES);
    const isWhole = tail.length === this.end.length;
    const usage = this.searchUsage(tail) ?? (isWhole ? undefined : this.searchUsage(this.end.toBuffer()));
    return usage ? toMeteredUsage(usage, provider, true) : NO_USAGE;
  }

  private searchUsage(end: Buffer): Readonly<Record<string, unknown>> | undefined {
    return findUsage(end, end.length === this.responseBytes);
  }
}

/**
 * Finds the member `usage` of the object that ends with this text. Searches the key from the end. Quotes within strings
 * are escaped, so that a match is a key; the brackets after the key tell its depth. If many deeper keys match, the text
 * is read once from its start, which bounds the time.
 * @param isWhole whether the text is the whole object and not only its end
 */
export function findUsage(text: Buffer, isWhole = true): Readonly<Record<string, unknown>> | undefined {
  const first = isWhole ? 0 : 1; // the byte before a key is needed to check the key
  let at = text.lastIndexOf(USAGE_KEY);
  for (let searches = 0; at >= first; searches++) {
    if (searches === SEARCH_LIMIT) return findUsageFromStart(text);
    const value = text[at - 1] === BACKSLASH ? undefined : findValue(text, at + USAGE_KEY.length);
    if (value && closesOneObject(text, value.end)) return parseObject(text, value.start, value.end);
    at = at === 0 ? -1 : text.lastIndexOf(USAGE_KEY, at - 1);
  }
  return undefined;
}

function findUsageFromStart(text: Buffer): Readonly<Record<string, unknown>> | undefined {
  const value = readObject(text, ['usage'])?.members.get('usage');
  return value && parseObject(text, value.start, value.end);
}

function findValue(text: Buffer, from: number): { start: number; end: number } | undefined {
  const colon = skipSpace(text, from, text.length);
  if (text[colon] !== COLON) return undefined;
  const start = skipSpace(text, colon + 1, text.length);
  const end = skipValue(text, start, text.length);
  return end > start ? { start, end } : undefined;
}

/** Whether the rest of the text closes exactly one object. */
function closesOneObject(text: Buffer, from: number): boolean {
  let at = from;
  while (at < text.length) {
    const byte = text[at]!;
    if (byte === CLOSE_BRACE) return skipSpace(text, at + 1, text.length) === text.length;
    const isValue = byte === QUOTE || byte === OPEN_BRACE || byte === OPEN_BRACKET;
    at = isValue ? skipValue(text, at, text.length) : at + 1;
    if (at < 0) return false;
  }
  return false;
}

function parseObject(
  text: Buffer,
  start: number,
  end: number,
): Readonly<Record<string, unknown>> | undefined {
  try {
    return asObject(JSON.parse(text.toString('utf8', start, end)));
  } catch {
    return undefined;
  }
}
