import { EMPTY } from './empty.js';
import { NOTHING_READ, readingOf } from './meter.js';
import type { Meter, Reading } from './meter.js';
import { BACKSLASH, CLOSE_BRACE, COLON, OPEN_BRACE, OPEN_BRACKET, QUOTE } from './json-members.js';
import { readObject, skipSpace, skipValue } from './json-members.js';
import { asObject } from './json-object.js';

/** Of answers beyond this, the last part is looked at: usage comes behind the content. */
const KEPT_BYTES = 1_048_576;
/** So much of the end is looked at first: mostly there is no need to put all of an answer together. */
const TAIL_BYTES = 4_096;
/** How often the key is looked for from the end: each time may mean to read all that is behind it. */
const SEARCH_LIMIT = 8;
const USAGE_KEY = Buffer.from('"usage"');

/** Reads the `usage` of an answer that is one JSON object, without parsing what else is in it. */
export class JsonMeter implements Meter {
  contentAt?: number;
  private chunks: Buffer[] = [];
  private keptBytes = 0;

  pass(chunk: Buffer): Buffer {
    this.contentAt ??= performance.now();
    this.chunks.push(chunk);
    this.keptBytes += chunk.length;
    while (this.keptBytes - this.chunks[0]!.length > KEPT_BYTES) {
      this.keptBytes -= this.chunks.shift()!.length;
    }
    return chunk;
  }

  rest(): Buffer {
    return EMPTY;
  }

  read(complete: boolean, provider?: string): Reading {
    if (!complete) return NOTHING_READ;
    const tail = this.chunksOf(TAIL_BYTES);
    const isWhole = tail.length === this.chunks.length;
    const usage = usageIn(joined(tail), isWhole) ?? (isWhole ? undefined : usageIn(joined(this.chunks)));
    return usage ? readingOf(usage, provider, true) : NOTHING_READ;
  }

  /** The last ones, with so many bytes or a few more. */
  private chunksOf(bytes: number): readonly Buffer[] {
    let from = this.chunks.length;
    for (let sum = 0; from > 0 && sum < bytes;) sum += this.chunks[--from]!.length;
    return from === 0 ? this.chunks : this.chunks.slice(from);
  }
}

function joined(chunks: readonly Buffer[]): Buffer {
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}

/**
 * The member `usage` of the object that ends with this text. Looks for the key from the end: within strings, its
 * quotes are escaped, so that it cannot be content, and the brackets behind it tell how deep it lies. Where many
 * lie deeper, the text is read once from its beginning, so that no answer takes long.
 * @param isWhole whether the text is all of the object, of which otherwise there may be more before it
 */
export function usageIn(text: Buffer, isWhole = true): Readonly<Record<string, unknown>> | undefined {
  const first = isWhole ? 0 : 1; // what stands before a key tells whether it is one
  let at = text.lastIndexOf(USAGE_KEY);
  for (let searches = 0; at >= first; searches++) {
    if (searches === SEARCH_LIMIT) return usageFromStart(text);
    const value = text[at - 1] === BACKSLASH ? undefined : valueBehind(text, at + USAGE_KEY.length);
    if (value && closesOneObject(text, value.end)) return parseObject(text, value.start, value.end);
    at = at === 0 ? -1 : text.lastIndexOf(USAGE_KEY, at - 1);
  }
  return undefined;
}

function usageFromStart(text: Buffer): Readonly<Record<string, unknown>> | undefined {
  const value = readObject(text, ['usage'])?.members.get('usage');
  return value && parseObject(text, value.start, value.end);
}

function valueBehind(text: Buffer, from: number): { start: number; end: number } | undefined {
  const colon = skipSpace(text, from, text.length);
  if (text[colon] !== COLON) return undefined;
  const start = skipSpace(text, colon + 1, text.length);
  const end = skipValue(text, start, text.length);
  return end > start ? { start, end } : undefined;
}

/** Whether what follows is the rest of one object, and nothing else. */
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
